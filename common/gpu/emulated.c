#include "gpu/emulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"
#include "gpu/profiles.h"

typedef struct {
    Gpu base;
    Emulator *emulator;
} EmulatorGpu;

static Emulator *emulator_of(Gpu *gpu) { return ((EmulatorGpu *)gpu)->emulator; }

// An error of the library's as one of the interface's. Always false.
static bool fail(GpuError *error, const EmulatorError *from) {
    gpu_fail(error, from->status == EMULATOR_NO_MEMORY, "%.1000s", from->message);
    if (from->status == EMULATOR_UNSUPPORTED) error->finding = FINDING_UNSUPPORTED;
    return false;
}

static void close_device(Gpu *gpu) {
    emulator_close(emulator_of(gpu));
    free(gpu);
}

// Limits are given with each launch.
static bool set_limits(Gpu *gpu, size_t printf_bytes, size_t stack_bytes, GpuError *error) {
    (void)gpu, (void)printf_bytes, (void)stack_bytes, (void)error;
    return true;
}

// ---- Memory -----------------------------------------------------------------------------------------------

static bool allocate(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    EmulatorError from = {0};
    buffer->address =
        emulator_allocate(emulator_of(gpu), buffer->bytes, buffer->misalignment, buffer->name, &from);
    return buffer->address != 0 || fail(error, &from);
}

static bool adopt(Gpu *gpu, GpuBuffer *buffer, void *memory, size_t period, GpuError *error) {
    EmulatorError from = {0};
    buffer->address = emulator_adopt(emulator_of(gpu), memory, buffer->bytes, period, buffer->name, &from);
    return buffer->address != 0 || fail(error, &from);
}

static bool free_buffer(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    EmulatorError from = {0};
    return emulator_free(emulator_of(gpu), buffer->address, &from) || fail(error, &from);
}

static bool write_buffer(Gpu *gpu, const GpuBuffer *buffer, size_t offset, const void *bytes, size_t count,
                         GpuError *error) {
    EmulatorError from = {0};
    return emulator_write(emulator_of(gpu), buffer->address + offset, bytes, count, &from) ||
           fail(error, &from);
}

static bool read_buffer(Gpu *gpu, void *to, const GpuBuffer *buffer, size_t offset, size_t count,
                        GpuError *error) {
    EmulatorError from = {0};
    return emulator_read(emulator_of(gpu), to, buffer->address + offset, count, &from) || fail(error, &from);
}

static bool fill(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, bool initialised, GpuError *error) {
    EmulatorError from = {0};
    return emulator_fill(emulator_of(gpu), buffer->address, pattern, buffer->bytes, initialised, &from) ||
           fail(error, &from);
}

static bool set_read_only(Gpu *gpu, const GpuBuffer *buffer, bool read_only, GpuError *error) {
    EmulatorError from = {0};
    return emulator_set_read_only(emulator_of(gpu), buffer->address, read_only, &from) || fail(error, &from);
}

// Every access outside a buffer is refused, so nothing can be damaged.
// NOLINTNEXTLINE(readability-non-const-parameter): the type is that of the table of functions
static bool guards_intact(Gpu *gpu, const GpuBuffer *buffer, int64_t *index, GpuError *error) {
    (void)gpu, (void)buffer, (void)index, (void)error;
    return true;
}

// ---- Images and kernels -----------------------------------------------------------------------------------

static bool load(GpuImage *image, GpuError *error) {
    EmulatorError from = {0};
    Emulator *emulator = emulator_of(image->gpu);
    image->handle =
        emulator_add_image(emulator, &(EmulatorText){image->text, image->bytes, image->name}, 1, &from);
    if (!image->handle) return fail(error, &from);
    emulator_protect_variables(emulator); // the audit does not follow addresses through memory
    return true;
}

static void unload(GpuImage *image) { emulator_remove_image(image->handle); }

static bool reset_variables(GpuImage *image, GpuError *error) {
    (void)error;
    emulator_reset_variables(emulator_of(image->gpu));
    return true;
}

static bool find_variable(GpuImage *image, GpuBuffer *variable, GpuError *error) {
    EmulatorVariable found;
    if (!emulator_find_variable(emulator_of(image->gpu), image->handle, variable->name, &found))
        return gpu_fail(error, false, "there is no variable %s in the image", variable->name);
    variable->address = found.address;
    variable->bytes = found.bytes;
    return true;
}

static GpuKernel *find_kernel(GpuImage *image, const char *name, GpuError *error) {
    const EmulatorKernel *found = emulator_find_kernel_in(image->handle, name);
    if (found) return gpu_keep_kernel(image, name, (void *)found, error);
    gpu_fail(error, false, "there is no kernel %s in the image", name);
    return NULL;
}

static bool kernel_parameters(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]) {
    static const int most = 64;
    EmulatorKernelInfo info;
    emulator_kernel_info(kernel->handle, &info);
    if (info.parameter_count > most) return false;
    *count = info.parameter_count;
    for (int i = 0; i < info.parameter_count; i++) {
        offsets[i] = info.parameters[i].offset;
        sizes[i] = info.parameters[i].bytes;
    }
    return true;
}

static void kernel_set_registers(GpuKernel *kernel, int registers) {
    kernel->registers = registers;
    emulator_set_registers(kernel->handle, registers);
}

// ---- Launching --------------------------------------------------------------------------------------------

// The finding that stopped the kernel: the first fatal one, else (a limit on findings may have cut the
// list) the first that is more than an information.
static const Finding *stopping_finding(const EmulatorResult *result) {
    for (int i = 0; i < result->finding_count; i++) {
        if (result->findings[i].fatal) return &result->findings[i];
    }
    for (int i = 0; i < result->finding_count; i++) {
        if (!finding_is_information(result->findings[i].kind)) return &result->findings[i];
    }
    return NULL;
}

static bool launch(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, EmulatorResult *result,
                   GpuError *error) {
    EmulatorError from = {0};
    EmulatorLaunch how = {.dynamic_shared = launch->dynamic_shared,
                          .arguments = launch->arguments,
                          .argument_bytes = launch->argument_bytes,
                          .checks = launch->checks,
                          .count = launch->count,
                          .timing = launch->timing,
                          .schedule = launch->schedule,
                          .max_steps = launch->max_steps,
                          .max_seconds = launch->max_seconds,
                          .max_output = launch->max_output,
                          .trace_bytes = launch->trace_bytes,
                          .sample = launch->sample,
                          .sample_count = launch->sample_count,
                          .footprint = launch->footprint,
                          .guarded_line = launch->guarded_line,
                          .what_if = launch->what_if,
                          .most_resident = launch->most_resident};
    memcpy(how.grid, launch->grid, sizeof how.grid);
    memcpy(how.block, launch->block, sizeof how.block);
    memcpy(how.cluster, launch->cluster, sizeof how.cluster);
    if (!emulator_launch(emulator_of(gpu), kernel->handle, &how, result, &from)) return fail(error, &from);
    const Footprint *footprint = launch->footprint;
    if (result->completed || (footprint && (footprint->takes_over || footprint->waits))) return true;
    const Finding *finding = stopping_finding(result);
    gpu_fail(error, false, "%.1000s", finding ? finding->message : "the kernel did not finish");
    error->finding = finding ? finding->kind : FINDING_TRAP;
    return false;
}

// Everything has run to its end when launch() returns.
static bool launch_async(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *how, GpuError *error) {
    EmulatorResult result = {0};
    bool good = launch(gpu, kernel, how, &result, error);
    emulator_result_free(&result);
    return good;
}

static bool synchronize(Gpu *gpu, GpuError *error) {
    (void)gpu, (void)error;
    return true;
}

static bool no_time(GpuError *error) {
    return gpu_fail(error, false,
                    "the emulator does not measure times; the model estimates them from its counters");
}
static bool timer_create(Gpu *gpu, GpuTimer **timer, GpuError *error) {
    return (void)gpu, (void)timer, no_time(error);
}
static void timer_free(Gpu *gpu, GpuTimer *timer) { (void)gpu, (void)timer; }
static bool timer_mark(Gpu *gpu, GpuTimer *timer, GpuError *error) {
    return (void)gpu, (void)timer, no_time(error);
}
// NOLINTNEXTLINE(readability-non-const-parameter): the type is that of the table of functions
static bool timer_seconds(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error) {
    return (void)gpu, (void)timer, (void)seconds, no_time(error);
}

// NOLINTNEXTLINE(readability-non-const-parameter): the type is that of the table of functions
static bool timer_is_ahead(Gpu *gpu, GpuTimer *timer, bool *is_ahead, GpuError *error) {
    return (void)gpu, (void)timer, (void)is_ahead, no_time(error);
}

static bool fill_async(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, GpuError *error) {
    return fill(gpu, buffer, pattern, true, error);
}
static GpuClocks clocks(Gpu *gpu, char *why, size_t why_bytes) {
    (void)gpu;
    snprintf(why, why_bytes, "the emulator has no clocks");
    return GPU_CLOCKS_UNKNOWN;
}

static const GpuFunctions functions = {
    .close = close_device,
    .set_limits = set_limits,
    .allocate = allocate,
    .adopt = adopt,
    .free = free_buffer,
    .write = write_buffer,
    .read = read_buffer,
    .fill = fill,
    .set_read_only = set_read_only,
    .guards_intact = guards_intact,
    .load = load,
    .unload = unload,
    .reset_variables = reset_variables,
    .find_variable = find_variable,
    .find_kernel = find_kernel,
    .kernel_parameters = kernel_parameters,
    .kernel_set_registers = kernel_set_registers,
    .launch = launch,
    .timer_create = timer_create,
    .timer_free = timer_free,
    .timer_start = timer_mark,
    .timer_stop = timer_mark,
    .timer_is_ahead = timer_is_ahead,
    .timer_seconds = timer_seconds,
    .launch_async = launch_async,
    .fill_async = fill_async,
    .synchronize = synchronize,
    .clocks = clocks,
};

Gpu *emulated_open(const char *name, GpuError *error) {
    const GpuProfile *profile = gpu_profile_find(name);
    if (!profile) {
        char why[700];
        gpu_profile_refuse(name, why, sizeof why);
        gpu_fail(error, false, "%s", why);
        return NULL;
    }
    EmulatorDevice device;
    gpu_profile_device(profile, &device);
    EmulatorGpu *gpu = calloc(1, sizeof *gpu);
    if (gpu) gpu->emulator = emulator_open(&device);
    if (!gpu || !gpu->emulator) {
        free(gpu);
        gpu_fail(error, true, "out of memory");
        return NULL;
    }
    gpu->base.functions = &functions;
    gpu->base.info = profile->info;
    gpu->base.info.peak_tflop_per_s = gpu_peak_tflop_per_s(&profile->info, profile->clock_khz);
    return &gpu->base;
}
