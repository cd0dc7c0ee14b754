// The device interface over the NVIDIA driver. libcuda.so.1 is opened at first use and never linked, so the
// same program runs where there is none; cuda.h serves for its types alone.
//
// One primary context, one stream, plain allocations. Around every buffer stand guard bands of a known
// pattern, since a GPU lets a kernel write past a buffer's end as long as the page is mapped.
#define _GNU_SOURCE // strdup and fork's kin under -std=c17
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/file.h"
#include "../support/process.h"
#include "device.h"
#include "profiles.h"

#if __has_include(<cuda.h>)
#include "nvidia_driver.h"

// ---- The device -------------------------------------------------------------------------------------------

typedef struct Allocation Allocation;
struct Allocation {
    Allocation *next;
    CUdeviceptr base;
    size_t bytes; // guard bands included; a multiple of 4
    size_t front; // bytes before the buffer's first
};

typedef struct {
    Gpu base;
    const Driver *driver;
    CUdevice device;
    CUstream stream;
    CUmodule module;
    void *image; // kept for gpu_reset_variables(), NUL terminated
    size_t image_bytes;
    char image_name[256];
    Allocation *allocations;
    bool is_lost;
} NvidiaGpu;

struct GpuTimer {
    CUevent start, stop;
};

enum { GUARD_BYTES = 4096, LARGE_GUARD_BYTES = 65536, LARGE_BUFFER_BYTES = 1 << 20 };
// Read as a float it is a NaN, so what a kernel reads past an end does not pass for a value.
static const uint32_t guard_pattern = 0xffd6a5b9u;

static NvidiaGpu *of(Gpu *gpu) { return (NvidiaGpu *)gpu; }

// Fills `error` from the driver's answer to `what`. Always false.
static bool fail(NvidiaGpu *gpu, CUresult result, const char *what, GpuError *error) {
    const char *name = NULL, *words = NULL;
    gpu->driver->error_name(result, &name);
    gpu->driver->error_string(result, &words);
    for (size_t i = 0; i < sizeof fault_table / sizeof fault_table[0]; i++) {
        if (fault_table[i].result != result) continue;
        FindingKind finding = fault_table[i].finding;
        gpu_fail(error, finding == FINDING_NONE, "%s (%s)", fault_table[i].meaning, name ? name : "?");
        error->finding = finding;
        error->is_context_lost = fault_table[i].loses_context;
        gpu->is_lost |= error->is_context_lost;
        return false;
    }
    gpu_fail(error, true, "the NVIDIA driver could not %s: %s (%s)", what, words ? words : "unknown error",
             name ? name : "?");
    return false;
}

// A lost context answers every call with the error that lost it; say so instead of blaming the caller again.
static bool is_usable(NvidiaGpu *gpu, GpuError *error) {
    if (!gpu->is_lost) return true;
    gpu_fail(error, true,
             "the GPU's context was lost by an earlier fault; close the device and open it again");
    error->is_context_lost = true;
    return false;
}

static bool wait_for(NvidiaGpu *gpu, const char *what, GpuError *error) {
    CUresult result = gpu->driver->stream_synchronize(gpu->stream);
    return result == CUDA_SUCCESS || fail(gpu, result, what, error);
}

static bool synchronize(Gpu *gpu, GpuError *error) {
    return is_usable(of(gpu), error) && wait_for(of(gpu), "finish its work", error);
}

static bool set_limits(Gpu *gpu, size_t printf_bytes, size_t stack_bytes, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    CUresult result = CUDA_SUCCESS;
    if (printf_bytes) result = self->driver->context_set_limit(CU_LIMIT_PRINTF_FIFO_SIZE, printf_bytes);
    if (result == CUDA_SUCCESS && stack_bytes) {
        result = self->driver->context_set_limit(CU_LIMIT_STACK_SIZE, stack_bytes);
    }
    return result == CUDA_SUCCESS || fail(self, result, "set the limits of printf and stack", error);
}

// ---- Memory -----------------------------------------------------------------------------------------------

static bool allocate(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    size_t guard = buffer->bytes >= LARGE_BUFFER_BYTES ? LARGE_GUARD_BYTES : GUARD_BYTES;
    Allocation *allocation = calloc(1, sizeof *allocation);
    if (!allocation) return gpu_fail(error, true, "out of memory");
    if (buffer->bytes > SIZE_MAX - 4 * (size_t)LARGE_GUARD_BYTES) {
        free(allocation);
        return gpu_fail(error, true, "a buffer of %zu bytes is more than any GPU has", buffer->bytes);
    }
    allocation->front = guard + buffer->misalignment;
    allocation->bytes = (allocation->front + buffer->bytes + guard + 255) / 256 * 256;
    CUresult result = self->driver->allocate(&allocation->base, allocation->bytes);
    if (result != CUDA_SUCCESS) {
        free(allocation);
        fail(self, result, "allocate memory", error);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            gpu_fail(error, true, "the GPU has no room for %zu bytes (buffer %s)", buffer->bytes,
                     buffer->name);
        }
        return false;
    }
    allocation->next = self->allocations;
    self->allocations = allocation;
    buffer->address = allocation->base + allocation->front;
    buffer->internal = allocation;
    result = self->driver->fill_words(allocation->base, guard_pattern, allocation->bytes / 4, self->stream);
    if (result == CUDA_SUCCESS) return wait_for(self, "fill guard bands", error);
    return fail(self, result, "fill guard bands", error);
}

static bool free_buffer(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    Allocation *allocation = buffer->internal;
    for (Allocation **at = &self->allocations; *at; at = &(*at)->next) {
        if (*at != allocation) continue;
        *at = allocation->next;
        // A lost context has freed all of its memory with itself.
        CUresult result = self->is_lost ? CUDA_SUCCESS : self->driver->free_memory(allocation->base);
        free(allocation);
        return result == CUDA_SUCCESS || fail(self, result, "free memory", error);
    }
    return gpu_fail(error, false, "the buffer %s is none of this device's", buffer->name);
}

static bool write_at(NvidiaGpu *gpu, CUdeviceptr to, const void *from, size_t bytes, GpuError *error) {
    if (!is_usable(gpu, error)) return false;
    CUresult result = gpu->driver->copy_to_device(to, from, bytes, gpu->stream);
    if (result != CUDA_SUCCESS) return fail(gpu, result, "copy to the GPU", error);
    return wait_for(gpu, "copy to the GPU", error);
}

static bool read_at(NvidiaGpu *gpu, void *to, CUdeviceptr from, size_t bytes, GpuError *error) {
    if (!is_usable(gpu, error)) return false;
    CUresult result = gpu->driver->copy_to_host(to, from, bytes, gpu->stream);
    if (result != CUDA_SUCCESS) return fail(gpu, result, "copy from the GPU", error);
    return wait_for(gpu, "copy from the GPU", error);
}

static bool write_buffer(Gpu *gpu, const GpuBuffer *buffer, size_t offset, const void *from, size_t bytes,
                         GpuError *error) {
    return write_at(of(gpu), buffer->address + offset, from, bytes, error);
}

static bool read_buffer(Gpu *gpu, void *to, const GpuBuffer *buffer, size_t offset, size_t bytes,
                        GpuError *error) {
    return read_at(of(gpu), to, buffer->address + offset, bytes, error);
}

static bool fill(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, bool initialised, GpuError *error) {
    (void)initialised; // a GPU does not know
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    if (buffer->address % 4 != 0) { // the driver fills whole words only: a rare case, filled from here
        enum { WORDS = 16384 };
        uint32_t *words = malloc(WORDS * sizeof *words);
        if (!words) return gpu_fail(error, true, "out of memory");
        for (int i = 0; i < WORDS; i++) words[i] = pattern;
        bool good = true;
        for (size_t done = 0; good && done < buffer->bytes; done += WORDS * sizeof *words) {
            size_t left = buffer->bytes - done,
                   count = left < WORDS * sizeof *words ? left : WORDS * sizeof *words;
            good = write_at(self, buffer->address + done, words, count, error);
        }
        free(words);
        return good;
    }
    size_t words = buffer->bytes / 4, tail = buffer->bytes % 4;
    CUresult result = CUDA_SUCCESS;
    if (words) result = self->driver->fill_words(buffer->address, pattern, words, self->stream);
    if (result != CUDA_SUCCESS) return fail(self, result, "fill memory", error);
    if (tail && !write_at(self, buffer->address + words * 4, &pattern, tail, error)) return false;
    return wait_for(self, "fill memory", error);
}

// A GPU cannot protect a buffer; the driver of the chapter compares inputs after a run.
static bool set_read_only(Gpu *gpu, const GpuBuffer *buffer, bool read_only, GpuError *error) {
    (void)gpu, (void)buffer, (void)read_only, (void)error;
    return true;
}

// Looks at bytes [from, to) of the allocation; `damaged` receives the offset of the first that changed.
static bool band_intact(NvidiaGpu *gpu, const Allocation *allocation, size_t from, size_t to, size_t *damaged,
                        GpuError *error) {
    unsigned char *bytes = malloc(to - from);
    if (!bytes) return gpu_fail(error, true, "out of memory");
    bool good = read_at(gpu, bytes, allocation->base + from, to - from, error);
    for (size_t i = from; good && i < to; i++) {
        unsigned char expected;
        memcpy(&expected, (const unsigned char *)&guard_pattern + i % 4, 1);
        if (bytes[i - from] == expected) continue;
        *damaged = i;
        good = false;
    }
    free(bytes);
    return good;
}

static bool guards_intact(Gpu *gpu, const GpuBuffer *buffer, int64_t *index, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    const Allocation *allocation = buffer->internal;
    size_t end = allocation->front + buffer->bytes, damaged = SIZE_MAX;
    // Past the end first: it is where loops run to.
    if (band_intact(self, allocation, end, allocation->bytes, &damaged, error) &&
        band_intact(self, allocation, 0, allocation->front, &damaged, error)) {
        return true;
    }
    if (damaged == SIZE_MAX) return false; // could not look
    *index = (int64_t)damaged - (int64_t)allocation->front;
    gpu_fail(error, false, "the kernel wrote outside the buffer %s of %zu bytes, at byte %lld", buffer->name,
             buffer->bytes, (long long)*index);
    error->finding = FINDING_OUT_OF_BOUNDS;
    return false;
}

// ---- Images and kernels -----------------------------------------------------------------------------------

static void unload(NvidiaGpu *gpu) {
    if (gpu->module && !gpu->is_lost) gpu->driver->module_unload(gpu->module);
    gpu->module = NULL;
}

static bool load_module(NvidiaGpu *gpu, GpuError *error) {
    char log[2048] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    CUresult result = gpu->driver->module_load(&gpu->module, gpu->image, 2, options, values);
    if (result == CUDA_SUCCESS) return true;
    gpu->module = NULL;
    fail(gpu, result, "load the image", error);
    if (strstr(log, "uses too much")) { // the driver's own ptxas, in the words of compile_log.c
        gpu_fail(error, false, "%s: %.800s", gpu->image_name, log);
        error->finding = FINDING_RESOURCE;
    } else if (result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_INVALID_IMAGE ||
               result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
        gpu_fail(error, false, "%s is no image for compute capability %d.%d%s%.800s", gpu->image_name,
                 gpu->base.info.compute_major, gpu->base.info.compute_minor, log[0] ? ": " : "", log);
    } else if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        gpu_fail(error, true, "the NVIDIA driver (%s) is older than the compiler that made %s: update it",
                 gpu->base.info.driver_version, gpu->image_name);
    }
    return false;
}

static bool load(Gpu *gpu, const void *image, size_t bytes, const char *name, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    unload(self);
    free(self->image);
    self->image = malloc(bytes + 1);
    if (!self->image) return gpu_fail(error, true, "out of memory");
    memcpy(self->image, image, bytes);
    ((char *)self->image)[bytes] = '\0'; // the driver knows PTX's end by it
    self->image_bytes = bytes;
    snprintf(self->image_name, sizeof self->image_name, "%s", name ? name : "the image");
    return load_module(self, error);
}

static bool find_function(NvidiaGpu *gpu, const char *name, CUfunction *function, GpuError *error) {
    if (!is_usable(gpu, error)) return false;
    if (!gpu->module) return gpu_fail(error, false, "no image is loaded");
    CUresult result = gpu->driver->module_function(function, gpu->module, name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return gpu_fail(error, false, "there is no kernel %s in the image", name);
    // Drivers load code lazily; do it now, not within the first timed launch.
    if (result == CUDA_SUCCESS && gpu->driver->function_load) result = gpu->driver->function_load(*function);
    return result == CUDA_SUCCESS || fail(gpu, result, "find the kernel", error);
}

// The driver has no call for it, so the image is loaded afresh and every kernel found again.
static bool reset_variables(Gpu *gpu, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    if (!self->module) return gpu_fail(error, false, "no image is loaded");
    unload(self);
    if (!load_module(self, error)) return false;
    for (GpuKernel *kernel = gpu->kernels; kernel; kernel = kernel->next) {
        CUfunction function = NULL;
        if (!find_function(self, kernel->name, &function, error)) return false;
        kernel->handle = function;
    }
    return true;
}

static int attribute_of(const GpuKernel *kernel, CUfunction_attribute attribute) {
    int value = 0;
    NvidiaGpu *gpu = of(kernel->gpu);
    return gpu->driver->function_attribute(&value, attribute, kernel->handle) == CUDA_SUCCESS ? value : 0;
}

static GpuKernel *find_kernel(Gpu *gpu, const char *name, GpuError *error) {
    CUfunction function = NULL;
    if (!find_function(of(gpu), name, &function, error)) return NULL;
    GpuKernel *kernel = gpu_keep_kernel(gpu, name, function, error);
    if (kernel) kernel->registers = attribute_of(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS);
    return kernel;
}

static bool kernel_parameters(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]) {
    const Driver *entries = of(kernel->gpu)->driver;
    if (!entries->parameter_info) return false;
    int found = 0;
    for (; found < 64; found++) {
        size_t offset, size;
        // One past the last is an invalid value: that is how the count is learnt.
        if (entries->parameter_info(kernel->handle, (size_t)found, &offset, &size) != CUDA_SUCCESS) break;
        offsets[found] = offset;
        sizes[found] = size;
    }
    *count = found;
    return true;
}

// The driver knows better.
static void kernel_set_registers(GpuKernel *kernel, int registers) { (void)kernel, (void)registers; }

// ---- Launching --------------------------------------------------------------------------------------------

static bool refuse(GpuError *error, FindingKind kind, const char *message) {
    gpu_fail(error, false, "%s", message);
    error->finding = kind;
    return false;
}

// The driver answers any of these with "invalid argument"; say which it is.
static bool check_shape(NvidiaGpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, GpuError *error) {
    const GpuInfo *info = &gpu->base.info;
    char words[512];
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        bool is_bad_grid = launch->grid[i] == 0 || launch->grid[i] > info->max_grid[i];
        bool is_bad_block = launch->block[i] == 0 || launch->block[i] > info->max_block[i];
        if (is_bad_grid || is_bad_block) {
            snprintf(words, sizeof words, "%s.%c is %u; it must be from 1 to %u",
                     is_bad_grid ? "grid" : "block", "xyz"[i],
                     is_bad_grid ? launch->grid[i] : launch->block[i],
                     is_bad_grid ? info->max_grid[i] : info->max_block[i]);
            return refuse(error, FINDING_BAD_LAUNCH, words);
        }
        threads *= launch->block[i];
    }
    if (threads > (uint64_t)info->max_threads_per_block) {
        snprintf(words, sizeof words, "a block of %llu threads is larger than the GPU's limit of %d",
                 (unsigned long long)threads, info->max_threads_per_block);
        return refuse(error, FINDING_BAD_LAUNCH, words);
    }
    int most = attribute_of(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (most > 0 && threads > (uint64_t)most) {
        snprintf(words, sizeof words,
                 "a block of this kernel can have at most %d threads (%d registers each, or "
                 "__launch_bounds__), not %llu",
                 most, kernel->registers, (unsigned long long)threads);
        return refuse(error, FINDING_RESOURCE, words);
    }
    int declared = attribute_of(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    if ((uint64_t)declared + launch->dynamic_shared > (uint64_t)info->shared_per_block_optin) {
        snprintf(words, sizeof words, "a block needs %llu bytes of shared memory; the GPU has %d",
                 (unsigned long long)declared + launch->dynamic_shared, info->shared_per_block_optin);
        return refuse(error, FINDING_BAD_LAUNCH, words);
    }
    if ((uint64_t)declared + launch->dynamic_shared > (uint64_t)info->shared_per_block) {
        // More than 48 KiB must be asked for, kernel by kernel.
        CUresult result = gpu->driver->function_set_attribute(
            kernel->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->dynamic_shared);
        if (result != CUDA_SUCCESS) return fail(gpu, result, "give a block that much shared memory", error);
    }
    return true;
}

static bool launch_async(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error) || !check_shape(self, kernel, launch, error)) return false;
    size_t bytes = launch->argument_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)launch->arguments, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    CUresult result = self->driver->launch(kernel->handle, launch->grid[0], launch->grid[1], launch->grid[2],
                                           launch->block[0], launch->block[1], launch->block[2],
                                           launch->dynamic_shared, self->stream, NULL, bytes ? extra : NULL);
    if (result == CUDA_SUCCESS) return true;
    fail(self, result, "launch the kernel", error);
    if (result == CUDA_ERROR_INVALID_VALUE)
        refuse(error, FINDING_BAD_LAUNCH, "the driver refuses this launch shape");
    return false;
}

static bool launch(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *how, EmulatorResult *result,
                   GpuError *error) {
    double began = monotonic_seconds();
    // What the kernel prints goes to this process's stdout, written by the driver when it synchronises.
    bool good = launch_async(gpu, kernel, how, error) && wait_for(of(gpu), "run the kernel", error);
    result->completed = good;
    result->seconds = monotonic_seconds() - began;
    return good;
}

// ---- Timing -----------------------------------------------------------------------------------------------

static void timer_free(Gpu *gpu, GpuTimer *timer) {
    NvidiaGpu *self = of(gpu);
    if (!self->is_lost && timer->start) self->driver->event_destroy(timer->start);
    if (!self->is_lost && timer->stop) self->driver->event_destroy(timer->stop);
    free(timer);
}

static bool timer_create(Gpu *gpu, GpuTimer **timer, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    GpuTimer *made = calloc(1, sizeof *made);
    if (!made) return gpu_fail(error, true, "out of memory");
    CUresult result = self->driver->event_create(&made->start, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS) result = self->driver->event_create(&made->stop, CU_EVENT_DEFAULT);
    if (result != CUDA_SUCCESS) {
        timer_free(gpu, made);
        return fail(self, result, "make a timer", error);
    }
    *timer = made;
    return true;
}

static bool record(Gpu *gpu, CUevent event, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    CUresult result = self->driver->event_record(event, self->stream);
    return result == CUDA_SUCCESS || fail(self, result, "record a time", error);
}

static bool timer_start(Gpu *gpu, GpuTimer *timer, GpuError *error) {
    return record(gpu, timer->start, error);
}
static bool timer_stop(Gpu *gpu, GpuTimer *timer, GpuError *error) { return record(gpu, timer->stop, error); }

static bool timer_seconds(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error) {
    NvidiaGpu *self = of(gpu);
    if (!is_usable(self, error)) return false;
    float milliseconds = 0;
    CUresult result = self->driver->event_synchronize(timer->stop);
    if (result == CUDA_SUCCESS)
        result = self->driver->event_elapsed(&milliseconds, timer->start, timer->stop);
    if (result != CUDA_SUCCESS) return fail(self, result, "read a timer", error);
    *seconds = 1e-3 * (double)milliseconds;
    return true;
}

// ---- Opening and closing ----------------------------------------------------------------------------------

static void close_device(Gpu *gpu) {
    NvidiaGpu *self = of(gpu);
    unload(self);
    while (self->allocations) {
        Allocation *next = self->allocations->next;
        if (!self->is_lost) self->driver->free_memory(self->allocations->base);
        free(self->allocations);
        self->allocations = next;
    }
    if (self->stream && !self->is_lost) self->driver->stream_destroy(self->stream);
    self->driver->context_set_current(NULL);
    // Only a reset destroys a context that a fault has spoilt; a later open then gets a fresh one.
    if (self->is_lost) self->driver->context_reset(self->device);
    self->driver->context_release(self->device);
    free(self->image);
    free(self);
}

static const GpuFunctions functions = {
    .close = close_device,
    .set_limits = set_limits,
    .allocate = allocate,
    .free = free_buffer,
    .write = write_buffer,
    .read = read_buffer,
    .fill = fill,
    .set_read_only = set_read_only,
    .guards_intact = guards_intact,
    .load = load,
    .reset_variables = reset_variables,
    .find_kernel = find_kernel,
    .kernel_parameters = kernel_parameters,
    .kernel_set_registers = kernel_set_registers,
    .launch = launch,
    .timer_create = timer_create,
    .timer_free = timer_free,
    .timer_start = timer_start,
    .timer_stop = timer_stop,
    .timer_seconds = timer_seconds,
    .launch_async = launch_async,
    .synchronize = synchronize,
};

// "580.159.04" where the kernel module tells, else the CUDA version that the driver speaks.
static void read_driver_version(const Driver *entries, GpuInfo *info) {
    Text text = {0};
    FileError error;
    if (read_regular_file("/proc/driver/nvidia/version", 4096, &text, &error)) {
        const char *at = strstr(text_chars(&text), "Kernel Module");
        at = at ? at + strcspn(at, "0123456789\n") : "";
        snprintf(info->driver_version, sizeof info->driver_version, "%.*s", (int)strspn(at, "0123456789."),
                 at);
    }
    text_free(&text);
    int version = 0;
    if (info->driver_version[0] || entries->driver_version(&version) != CUDA_SUCCESS) return;
    snprintf(info->driver_version, sizeof info->driver_version, "CUDA %d.%d", version / 1000,
             version % 1000 / 10);
}

static void read_info(NvidiaGpu *gpu) {
    GpuInfo *info = &gpu->base.info;
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } figures[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &info->compute_major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &info->compute_minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info->sm_count},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info->max_threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &info->max_threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &info->max_blocks_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &info->registers_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &info->registers_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &info->shared_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &info->shared_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &info->shared_per_block_optin},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &info->shared_reserved_per_block},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &info->l2_bytes},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &info->memory_clock_khz},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &info->memory_bus_bits},
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (gpu->driver->device_attribute(figures[i].value, figures[i].attribute, gpu->device) !=
            CUDA_SUCCESS) {
            *figures[i].value = 0;
        }
    }
    static const CUdevice_attribute grid[3] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                               CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                               CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    static const CUdevice_attribute block[3] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                                CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                                CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    for (int i = 0; i < 3; i++) {
        int value = 0;
        gpu->driver->device_attribute(&value, grid[i], gpu->device);
        info->max_grid[i] = (uint32_t)value;
        value = 0;
        gpu->driver->device_attribute(&value, block[i], gpu->device);
        info->max_block[i] = (uint32_t)value;
    }
    info->kind = GPU_NVIDIA;
    if (gpu->driver->device_name(info->name, (int)sizeof info->name, gpu->device) != CUDA_SUCCESS)
        info->name[0] = '\0';
    gpu->driver->device_memory(&info->memory_bytes, gpu->device);
    read_driver_version(gpu->driver, info);
    // Two transfers a clock on every memory that CUDA devices use (CUDA C++ Best Practices Guide,
    // "Theoretical Bandwidth Calculation").
    info->peak_gb_per_s = 2e-6 * info->memory_clock_khz * info->memory_bus_bits / 8;
    const GpuProfile *profile = gpu_profile_find(info->name);
    if (info->peak_gb_per_s <= 0 && profile) info->peak_gb_per_s = profile->info.peak_gb_per_s;
}

Gpu *nvidia_gpu_open(GpuError *error) {
    char why[512];
    const Driver *entries = driver(why, sizeof why);
    if (!entries) {
        gpu_fail(error, true, "%s", why);
        return NULL;
    }
    NvidiaGpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        gpu_fail(error, true, "out of memory");
        return NULL;
    }
    gpu->base.functions = &functions;
    gpu->driver = entries;
    CUcontext context = NULL;
    int count = 0;
    CUresult result = entries->init(0);
    if (result == CUDA_SUCCESS) result = entries->device_count(&count);
    if (result == CUDA_SUCCESS && count == 0) result = CUDA_ERROR_NO_DEVICE;
    if (result == CUDA_SUCCESS) result = entries->device_get(&gpu->device, 0);
    if (result == CUDA_SUCCESS) result = entries->context_retain(&context, gpu->device);
    if (result != CUDA_SUCCESS) {
        fail(gpu, result, "open the GPU", error);
        error->is_machines_fault = true;
        free(gpu);
        return NULL;
    }
    result = entries->context_set_current(context);
    if (result == CUDA_SUCCESS) result = entries->stream_create(&gpu->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        fail(gpu, result, "open the GPU", error);
        error->is_machines_fault = true;
        close_device(&gpu->base);
        return NULL;
    }
    read_info(gpu);
    return &gpu->base;
}

// Asked in a child: a process that has started CUDA must not fork, and whoever asks may still want to.
bool gpu_nvidia_present(char *why, size_t why_bytes) {
    char reason[512] = "";
    int message[2];
    if (why && why_bytes) why[0] = '\0';
    bool is_present = false;
    const Driver *entries = driver(reason, sizeof reason);
    if (entries && pipe(message) == 0) {
        pid_t child = fork();
        if (child == 0) {
            int count = 0;
            CUresult result = entries->init(0);
            if (result == CUDA_SUCCESS) result = entries->device_count(&count);
            if (result == CUDA_SUCCESS && count > 0) _exit(0);
            const char *words = NULL;
            entries->error_string(result == CUDA_SUCCESS ? CUDA_ERROR_NO_DEVICE : result, &words);
            if (!words) words = "unknown error";
            ssize_t ignored = write(message[1], words, strlen(words));
            (void)ignored;
            _exit(1);
        }
        close(message[1]);
        ssize_t count = child > 0 ? read(message[0], reason, sizeof reason - 1) : 0;
        reason[count > 0 ? count : 0] = '\0';
        close(message[0]);
        int status = 1;
        is_present =
            child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (!is_present && !reason[0]) snprintf(reason, sizeof reason, "the NVIDIA driver does not answer");
    }
    if (!is_present && why && why_bytes) snprintf(why, why_bytes, "%s", reason);
    return is_present;
}

#else // built without cuda.h: the emulator is all there is

static const char without[] =
    "this program was built without NVIDIA's cuda.h and knows no GPU; run make again with nvcc";

Gpu *nvidia_gpu_open(GpuError *error) {
    gpu_fail(error, true, "%s", without);
    return NULL;
}

bool gpu_nvidia_present(char *why, size_t why_bytes) {
    if (why && why_bytes) snprintf(why, why_bytes, "%s", without);
    return false;
}

#endif
