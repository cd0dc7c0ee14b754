#define _POSIX_C_SOURCE 200809L // ftrylockfile
#include "runtime/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/mangle.h"
#include "runtime/allocation.h"
#include "runtime/profile.h"
#include "runtime/report.h"
#include "runtime/state.h"

static const size_t MAX_OUTPUT = (size_t)256 << 20;
static bool models_times;
void kernel_model_times(void) { models_times = true; }

// ---- Before -----------------------------------------------------------------------------------------------

int kernel_resident_blocks(const Function *function, unsigned threads, size_t dynamic_shared) {
    EmulatorKernelInfo info;
    ModelDevice device;
    emulator_kernel_info(function->kernel, &info);
    gpu_profile_model(device_profile(), &device);
    const ModelShape shape = {.blocks = 1e9,
                              .block_threads = threads,
                              .registers = ASSUMED_REGISTERS,
                              .shared_bytes = (double)(info.static_shared + dynamic_shared)};
    return (int)model_resident_blocks(&device, &shape);
}

static cudaError_t refuse(const Launch *launch, cudaError_t error, const char *why) {
    char name[256];
    symbol_source_name(launch->function->name, name, sizeof name);
    report_host(BAD_LAUNCH, &launch->place, "the launch of %s fails with %s, and the kernel does not run: %s",
                name, error_name(error), why);
    return error;
}

static cudaError_t check_shape(const Launch *launch) {
    const GpuInfo *info = &device_profile()->info;
    const unsigned grid[] = {launch->grid.x, launch->grid.y, launch->grid.z},
                   block[] = {launch->block.x, launch->block.y, launch->block.z};
    EmulatorKernelInfo kernel;
    emulator_kernel_info(launch->function->kernel, &kernel);
    char why[300];
    for (int i = 0; i < 3; i++) {
        const char *what = !grid[i] || grid[i] > info->max_grid[i] ? "grid" : "block";
        const unsigned have = *what == 'g' ? grid[i] : block[i],
                       most = *what == 'g' ? info->max_grid[i] : info->max_block[i];
        if (have && have <= most) continue;
        snprintf(why, sizeof why, "the %s is %u in %c; 1 to %u are possible", what, have, "xyz"[i], most);
        return refuse(launch, cudaErrorInvalidConfiguration, why);
    }
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads > (uint64_t)info->max_threads_per_block) {
        snprintf(why, sizeof why, "the block has %u x %u x %u = %llu threads; at most %d are possible",
                 block[0], block[1], block[2], (unsigned long long)threads, info->max_threads_per_block);
        return refuse(launch, cudaErrorInvalidConfiguration, why);
    }
    uint64_t bounds = 1;
    for (int i = 0; i < 3; i++) bounds *= (uint64_t)(kernel.max_threads[i] ? kernel.max_threads[i] : 1);
    if (kernel.max_threads[0] && threads > bounds) {
        snprintf(why, sizeof why, "the block has %llu threads; the kernel's __launch_bounds__ allow %llu",
                 (unsigned long long)threads, (unsigned long long)bounds);
        return refuse(launch, cudaErrorLaunchFailure, why);
    }
    const int allowed = launch->function->dynamic_shared;
    const size_t most = allowed ? (size_t)allowed : (size_t)info->shared_per_block - kernel.static_shared;
    if (launch->dynamic_shared > most) {
        snprintf(why, sizeof why, "it asks for %zu bytes of dynamic shared memory; %zu are allowed%s",
                 launch->dynamic_shared, most,
                 launch->dynamic_shared + kernel.static_shared <= (size_t)info->shared_per_block_optin
                     ? " until cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...) "
                       "allows more"
                     : "");
        return refuse(launch, cudaErrorInvalidValue, why);
    }
    if (launch->is_cooperative) {
        const uint64_t fit = (uint64_t)kernel_resident_blocks(launch->function, (unsigned)threads,
                                                              launch->dynamic_shared) *
                             (uint64_t)info->sm_count,
                       blocks = (uint64_t)grid[0] * grid[1] * grid[2];
        if (blocks > fit) {
            snprintf(why, sizeof why,
                     "a cooperative grid must fit the device at once: %llu blocks, of which %llu fit",
                     (unsigned long long)blocks, (unsigned long long)fit);
            return refuse(launch, cudaErrorCooperativeLaunchTooLarge, why);
        }
    }
    return cudaSuccess;
}

cudaError_t kernel_prepare(Launch *launch, void **arguments) {
    const cudaError_t error = check_shape(launch);
    if (error) return error;
    EmulatorKernelInfo info;
    emulator_kernel_info(launch->function->kernel, &info);
    if (info.parameter_count && !arguments) return cudaErrorInvalidValue;
    launch->argument_bytes = info.parameter_bytes;
    launch->arguments = calloc(1, info.parameter_bytes + 1);
    if (!launch->arguments) return cudaErrorMemoryAllocation;
    for (int i = 0; i < info.parameter_count; i++)
        memcpy((char *)launch->arguments + info.parameters[i].offset, arguments[i], info.parameters[i].bytes);
    return cudaSuccess;
}

void kernel_release(Launch *launch) {
    free(launch->arguments);
    launch->arguments = NULL;
}

// ---- After ------------------------------------------------------------------------------------------------

static cudaError_t error_of(FindingKind kind) {
    switch (kind) {
    case FINDING_OUT_OF_BOUNDS:
    case FINDING_WRONG_SPACE:
    case FINDING_READ_ONLY: return cudaErrorIllegalAddress;
    case FINDING_MISALIGNED: return cudaErrorMisalignedAddress;
    case FINDING_ASSERT: return cudaErrorAssert;
    case FINDING_DEADLOCK:
    case FINDING_STEP_LIMIT: return cudaErrorLaunchTimeout;
    case FINDING_RESOURCE: return cudaErrorLaunchOutOfResources;
    case FINDING_BAD_LAUNCH: return cudaErrorInvalidConfiguration;
    case FINDING_UNSUPPORTED: return cudaErrorNotSupported;
    default: return cudaErrorLaunchFailure;
    }
}

// What is known about the address that a kernel must not use, beyond what the kernel's own finding says.
static void explain(const Launch *launch, const Finding *f) {
    char words[4400], where[4200];
    const Allocation *a = allocation_at((const void *)f->address);
    if (a && a->is_freed) {
        allocation_words(a, words, sizeof words);
        place_text(&a->released, where, sizeof where);
        report_note("the address lies in %s, and freed at %s", words, where);
        return;
    }
    int number;
    if (sscanf(f->object, "allocation %d", &number) == 1) {
        for (int i = 0; (a = allocation_by_index(i)); i++)
            if (a->number == number && a->kind != MEMORY_VARIABLE) break;
        if (!a) return;
        allocation_words(a, words, sizeof words);
        report_note("%s", words);
        return;
    }
    if (f->kind != FINDING_OUT_OF_BOUNDS || f->address < 1 << 20) return;
    // An argument near the address, which no memory of kernels is at: a host pointer.
    EmulatorKernelInfo info;
    emulator_kernel_info(launch->function->kernel, &info);
    for (int i = 0; i < info.parameter_count; i++) {
        uint64_t value;
        if (info.parameters[i].bytes != sizeof value) continue;
        memcpy(&value, (char *)launch->arguments + info.parameters[i].offset, sizeof value);
        const uint64_t distance = f->address - value;
        if (distance > (uint64_t)1 << 32 || !value || allocation_at((void *)value)) continue;
        place_text(&launch->place, where, sizeof where);
        report_note(
            "argument %d at %s is 0x%llx, a host pointer: pass a pointer from cudaMalloc, and copy the data "
            "there with cudaMemcpy",
            i + 1, where, (unsigned long long)value);
        return;
    }
}

static void report_all(const Launch *launch, const EmulatorResult *result) {
    for (int i = 0; i < result->finding_count; i++) {
        const Finding *f = &result->findings[i];
        if (!options()->checks && !f->fatal) continue;
        if (report_kernel(f, launch->function->name, &launch->place)) explain(launch, f);
    }
    if (result->completed) return;
    cudaError_t error = cudaErrorLaunchFailure;
    for (int i = result->finding_count; i-- > 0;)
        if (result->findings[i].fatal) error = error_of(result->findings[i].kind);
    set_sticky(error);
}

// The modelled times of a kernel with a shape: following a launch for the model takes longer than running it,
// and so only the first few are followed, and the others take as long as the last of these.
typedef struct {
    const Function *function;
    dim3 grid, block;
    int followed;
    double seconds;
} Timed;
enum { MOST_TIMED = 256, MOST_FOLLOWED = 3 };

static bool is_same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// NULL: there are too many.
static Timed *timed_of(const Launch *l) {
    static Timed timed[MOST_TIMED];
    static int count;
    for (int i = 0; i < count; i++)
        if (timed[i].function == l->function && is_same(timed[i].grid, l->grid) &&
            is_same(timed[i].block, l->block))
            return &timed[i];
    if (count == MOST_TIMED) return NULL;
    timed[count] = (Timed){.function = l->function, .grid = l->grid, .block = l->block};
    return &timed[count++];
}

// The host may be inside a call of stdio that waits for this kernel, by reading memory that it works on.
static void print(const char *output, size_t bytes) {
    if (ftrylockfile(stdout)) {
        while (bytes) {
            const ssize_t written = write(STDOUT_FILENO, output, bytes);
            if (written <= 0) return;
            output += written;
            bytes -= (size_t)written;
        }
        return;
    }
    fwrite(output, 1, bytes, stdout);
    fflush(stdout);
    funlockfile(stdout);
}

bool kernel_may_wait(const Launch *launch) { return emulator_kernel_may_wait(launch->function->kernel); }

Ran kernel_run(const Launch *launch, Touched *touched, const KernelPause *pause) {
    Ran ran = {0};
    Timed *timed = models_times ? timed_of(launch) : NULL;
    const bool profiles = options()->profile != NULL,
               is_timed = profiles || (models_times && (!timed || timed->followed < MOST_FOLLOWED));
    if (timed && !is_timed) ran.seconds = timed->seconds;
    const EmulatorLaunch how = {
        .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
        .block = {launch->block.x, launch->block.y, launch->block.z},
        .cluster = {launch->cluster.x, launch->cluster.y, launch->cluster.z},
        .dynamic_shared = (uint32_t)launch->dynamic_shared,
        .arguments = launch->arguments,
        .argument_bytes = launch->argument_bytes,
        .checks = options()->checks ? CHECK_ALL : 0,
        .count = profiles,
        .timing = is_timed,
        .schedule = is_timed ? 0 : options()->seed, // the model follows the plain schedule
        .max_output = MAX_OUTPUT,
        .touched = touched,
        .pause = pause ? pause->function : NULL,
        .pause_self = pause ? pause->self : NULL,
    };
    EmulatorResult result;
    EmulatorError error;
    if (!emulator_launch(device_emulator(), launch->function->kernel, &how, &result, &error)) {
        report_once("%s: %s", launch->function->name, error.message);
        set_sticky(cudaErrorLaunchFailure);
    } else {
        if (result.output_bytes) print(result.output, result.output_bytes);
        report_all(launch, &result);
        ModelEstimate estimate = {0};
        if (result.work) {
            EmulatorKernelInfo info;
            ModelDevice device;
            emulator_kernel_info(launch->function->kernel, &info);
            gpu_profile_model(device_profile(), &device);
            const ModelShape shape = {.blocks = (double)how.grid[0] * how.grid[1] * how.grid[2],
                                      .block_threads = (double)how.block[0] * how.block[1] * how.block[2],
                                      .registers = ASSUMED_REGISTERS,
                                      .shared_bytes = (double)(info.static_shared + launch->dynamic_shared)};
            model_estimate(&device, &shape, result.work, &estimate);
            ran.seconds = estimate.seconds;
            if (timed)
                *timed =
                    (Timed){timed->function, timed->grid, timed->block, timed->followed + 1, ran.seconds};
        }
        if (profiles) profile_add(launch->function->name, how.grid, how.block, &result, &estimate);
    }
    ran.lanes = result.lane_instructions;
    ran.is_clean = result.completed && !result.findings_total && !result.output_bytes;
    emulator_result_free(&result);
    return ran;
}
