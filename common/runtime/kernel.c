#define _POSIX_C_SOURCE 200809L // ftrylockfile
#include "runtime/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/mangle.h"
#include "runtime/allocation.h"
#include "runtime/condition.h"
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
        if (!options()->checks && !options()->profile && !f->fatal) continue;
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

// ---- Launches by kernels ----------------------------------------------------------------------------------

// A kernel cannot wait for what it launches, nor does its grid end before that has ended: to run the launches
// when all threads have ended, one after the other and each with its own, is one of the orders that a GPU may
// choose.
typedef struct {
    Launch launch; // function NULL: a copy
    uint64_t to, from, bytes;
    bool is_tail;
} Child;

typedef struct {
    const Launch *parent;
    int depth; // of the parent: 0 if the host has launched it
    Child *children;
    size_t count, capacity;
    bool sets_condition;
} Family;

// No grid ends before what it launched. An H200 refuses the launch that would make more than 2,048 wait for
// that: tests/programs/launches.cu
enum { MOST_DEPTH = 2048, MOST_CHILDREN = 1 << 20 };

// EmulatorLaunch.child
static int add_child(void *self, const EmulatorChild *asked) {
    Family *family = self;
    Child child = {.to = asked->to, .from = asked->from, .bytes = asked->bytes, .is_tail = asked->is_tail};
    if (asked->kernel) {
        if (family->depth == MOST_DEPTH) return cudaErrorLaunchPendingCountExceeded;
        child.launch =
            (Launch){.function = module_function_of(asked->kernel, family->parent->function->device),
                     .grid = {asked->grid[0], asked->grid[1], asked->grid[2]},
                     .block = {asked->block[0], asked->block[1], asked->block[2]},
                     .dynamic_shared = asked->dynamic_shared,
                     .argument_bytes = asked->argument_bytes,
                     .place = family->parent->place};
        if (!child.launch.function) return cudaErrorInvalidDeviceFunction;
        const cudaError_t error = check_shape(&child.launch);
        if (error) return (int)error;
    }
    if (family->count == MOST_CHILDREN) return cudaErrorLaunchPendingCountExceeded;
    if (family->count == family->capacity) {
        const size_t capacity = family->capacity ? 2 * family->capacity : 16;
        Child *grown = realloc(family->children, capacity * sizeof *grown);
        if (!grown) return cudaErrorMemoryAllocation;
        family->children = grown;
        family->capacity = capacity;
    }
    if (asked->kernel) {
        child.launch.arguments = calloc(1, asked->argument_bytes + 1);
        if (!child.launch.arguments) return cudaErrorMemoryAllocation;
        memcpy(child.launch.arguments, asked->arguments, asked->argument_bytes);
    }
    family->children[family->count++] = child;
    return cudaSuccess;
}

// EmulatorLaunch.condition
static bool set_condition(void *self, uint64_t handle, uint32_t value) {
    Family *family = self;
    family->sets_condition = true;
    return condition_set(handle, value);
}

static void copy_for_kernel(const Child *child, const Launch *parent) {
    EmulatorError error;
    Emulator *emulator = device_emulator();
    void *to = emulator_host_pointer(emulator, child->to, child->bytes);
    const void *from = emulator_host_pointer(emulator, child->from, child->bytes);
    if (to && from) {
        memmove(to, from, child->bytes);
        emulator_mark_written(emulator, child->to, child->bytes, &error);
        return;
    }
    char name[256];
    symbol_source_name(parent->function->name, name, sizeof name);
    report_host(COPY_SIZE, &parent->place,
                "cudaMemcpyAsync in %s copies %llu bytes from 0x%llx to 0x%llx, which do not lie in one "
                "allocation each",
                name, (unsigned long long)child->bytes, (unsigned long long)child->from,
                (unsigned long long)child->to);
    set_sticky(cudaErrorIllegalAddress);
}

static Ran run_at_depth(const Launch *launch, int depth, Touched *touched, const KernelPause *pause);

// Also releases them. Nothing follows a kernel that was stopped.
static void run_children(Family *family, bool runs, Ran *ran, Touched *touched, const KernelPause *pause) {
    for (int tail = 0; tail < 2; tail++)
        for (size_t i = 0; i < family->count; i++) {
            Child *child = &family->children[i];
            if (child->is_tail != (tail == 1)) continue;
            if (runs && child->launch.function) {
                const Ran one = run_at_depth(&child->launch, family->depth + 1, touched, pause);
                ran->seconds += one.seconds;
                ran->lanes += one.lanes;
                runs = one.is_completed;
            } else if (runs)
                copy_for_kernel(child, family->parent);
            kernel_release(&child->launch);
        }
    ran->is_clean = ran->is_clean && !family->count;
    ran->is_completed = runs;
    free(family->children);
}

// ---- Running ----------------------------------------------------------------------------------------------

// Its children are in `family` then.
static Ran run_alone(const Launch *launch, Family *family, Touched *touched, const KernelPause *pause) {
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
        .whole_pages = profiles,
        .timing = is_timed,
        .schedule = is_timed ? 0 : options()->seed, // the model follows the plain schedule
        .max_output = MAX_OUTPUT,
        .touched = touched,
        .pause = pause ? pause->function : NULL,
        .pause_self = pause ? pause->self : NULL,
        .child = add_child,
        .condition = set_condition,
        .child_self = family,
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
    ran.is_completed = result.completed;
    ran.is_clean =
        result.completed && !result.findings_total && !result.output_bytes && !family->sets_condition;
    emulator_result_free(&result);
    return ran;
}

static Ran run_at_depth(const Launch *launch, int depth, Touched *touched, const KernelPause *pause) {
    Family family = {.parent = launch, .depth = depth};
    Ran ran = run_alone(launch, &family, touched, pause);
    run_children(&family, ran.is_completed, &ran, touched, pause);
    return ran;
}

Ran kernel_run(const Launch *launch, Touched *touched, const KernelPause *pause) {
    return run_at_depth(launch, 0, touched, pause);
}
