// The device, its memory and its launches. Images are in nvidia_image.c, times in nvidia_timing.c, the
// driver's library in nvidia_driver.c.
//
// One primary context, one stream, plain allocations. Every buffer has guard bands of a known pattern around
// it, because a GPU lets a kernel write past a buffer's end as long as the page is mapped.
#include "gpu/nvidia.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "support/process.h"
#include "gpu/nvidia_driver.h"
#include "gpu/profiles.h"

#if __has_include(<cuda.h>)
#include "gpu/nvidia_image.h"
#include "gpu/nvidia_timing.h"

// ---- The device -------------------------------------------------------------------------------------------

enum { GUARD_BYTES = 4096, LARGE_GUARD_BYTES = 65536, LARGE_BUFFER_BYTES = 1 << 20 };
// Read as a float it is a NaN, so a value read past the end is not mistaken for data.
static const uint32_t guard_pattern = 0xffd6a5b9u;

static bool wait_for(NvidiaGpu *gpu, const char *what, GpuError *error) {
    CUresult result = gpu->driver->stream_synchronize(gpu->stream);
    return result == CUDA_SUCCESS || nvidia_fail(gpu, result, what, error);
}

static bool synchronize(Gpu *gpu, GpuError *error) {
    return nvidia_is_usable(nvidia_of(gpu), error) && wait_for(nvidia_of(gpu), "finish its work", error);
}

static bool set_limits(Gpu *gpu, size_t printf_bytes, size_t stack_bytes, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
    CUresult result = CUDA_SUCCESS;
    if (printf_bytes) result = self->driver->context_set_limit(CU_LIMIT_PRINTF_FIFO_SIZE, printf_bytes);
    if (result == CUDA_SUCCESS && stack_bytes) {
        result = self->driver->context_set_limit(CU_LIMIT_STACK_SIZE, stack_bytes);
    }
    return result == CUDA_SUCCESS || nvidia_fail(self, result, "set the limits of printf and stack", error);
}

// ---- Memory -----------------------------------------------------------------------------------------------

static bool allocate(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
    size_t guard = buffer->bytes >= LARGE_BUFFER_BYTES ? LARGE_GUARD_BYTES : GUARD_BYTES;
    Allocation *allocation = calloc(1, sizeof *allocation);
    if (!allocation) return gpu_fail(error, true, "out of memory");
    if (buffer->bytes > SIZE_MAX - 4 * (size_t)LARGE_GUARD_BYTES) {
        free(allocation);
        return gpu_fail(error, true, "a buffer of %zu bytes is larger than the memory of any GPU",
                        buffer->bytes);
    }
    allocation->front = guard + buffer->misalignment;
    allocation->bytes = (allocation->front + buffer->bytes + guard + 255) / 256 * 256;
    CUresult result = self->driver->allocate(&allocation->base, allocation->bytes);
    if (result != CUDA_SUCCESS) {
        free(allocation);
        nvidia_fail(self, result, "allocate memory", error);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            gpu_fail(error, true, "the GPU does not have enough memory for %zu bytes (buffer %s)",
                     buffer->bytes, buffer->name);
        }
        return false;
    }
    allocation->next = self->allocations;
    self->allocations = allocation;
    buffer->address = allocation->base + allocation->front;
    buffer->internal = allocation;
    result = self->driver->fill_words(allocation->base, guard_pattern, allocation->bytes / 4, self->stream);
    if (result == CUDA_SUCCESS) return wait_for(self, "fill guard bands", error);
    return nvidia_fail(self, result, "fill guard bands", error);
}

static bool free_buffer(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    Allocation *allocation = buffer->internal;
    for (Allocation **at = &self->allocations; *at; at = &(*at)->next) {
        if (*at != allocation) continue;
        *at = allocation->next;
        // A lost context has freed all of its memory with itself.
        CUresult result = self->is_lost ? CUDA_SUCCESS : self->driver->free_memory(allocation->base);
        free(allocation);
        return result == CUDA_SUCCESS || nvidia_fail(self, result, "free memory", error);
    }
    return gpu_fail(error, false, "the buffer %s does not belong to this device", buffer->name);
}

static bool write_at(NvidiaGpu *gpu, CUdeviceptr to, const void *from, size_t bytes, GpuError *error) {
    if (!nvidia_is_usable(gpu, error)) return false;
    CUresult result = gpu->driver->copy_to_device(to, from, bytes, gpu->stream);
    if (result != CUDA_SUCCESS) return nvidia_fail(gpu, result, "copy to the GPU", error);
    return wait_for(gpu, "copy to the GPU", error);
}

static bool read_at(NvidiaGpu *gpu, void *to, CUdeviceptr from, size_t bytes, GpuError *error) {
    if (!nvidia_is_usable(gpu, error)) return false;
    CUresult result = gpu->driver->copy_to_host(to, from, bytes, gpu->stream);
    if (result != CUDA_SUCCESS) return nvidia_fail(gpu, result, "copy from the GPU", error);
    return wait_for(gpu, "copy from the GPU", error);
}

static bool write_buffer(Gpu *gpu, const GpuBuffer *buffer, size_t offset, const void *from, size_t bytes,
                         GpuError *error) {
    return write_at(nvidia_of(gpu), buffer->address + offset, from, bytes, error);
}

static bool read_buffer(Gpu *gpu, void *to, const GpuBuffer *buffer, size_t offset, size_t bytes,
                        GpuError *error) {
    return read_at(nvidia_of(gpu), to, buffer->address + offset, bytes, error);
}

static bool fill_async(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
    const size_t words = buffer->bytes / 4;
    CUresult result = CUDA_SUCCESS;
    if (words) result = self->driver->fill_words(buffer->address, pattern, words, self->stream);
    for (size_t i = 4 * words; result == CUDA_SUCCESS && i < buffer->bytes; i++)
        result = self->driver->fill_bytes(buffer->address + i, (unsigned char)(pattern >> (8 * (i % 4))), 1,
                                          self->stream);
    return result == CUDA_SUCCESS || nvidia_fail(self, result, "fill memory", error);
}

static bool fill(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, bool initialised, GpuError *error) {
    (void)initialised; // a GPU does not know
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error)) return false;
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
    return fill_async(gpu, buffer, pattern, error) && wait_for(self, "fill memory", error);
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
    NvidiaGpu *self = nvidia_of(gpu);
    const Allocation *allocation = buffer->internal;
    size_t end = allocation->front + buffer->bytes, damaged = SIZE_MAX;
    // Checks past the end first, where loops usually overrun.
    if (band_intact(self, allocation, end, allocation->bytes, &damaged, error) &&
        band_intact(self, allocation, 0, allocation->front, &damaged, error)) {
        return true;
    }
    if (damaged == SIZE_MAX) return false; // could not look
    *index = (int64_t)damaged - (int64_t)allocation->front;
    const bool is_before = *index < 0;
    gpu_fail(error, false, "the kernel wrote outside the buffer %s of %zu bytes, %s%lld%s", buffer->name,
             buffer->bytes, is_before ? "" : "at byte ", (long long)(is_before ? -*index : *index),
             !is_before     ? ""
             : *index == -1 ? " byte before it"
                            : " bytes before it");
    error->finding = FINDING_OUT_OF_BOUNDS;
    return false;
}

// The driver knows better.
static void kernel_set_registers(GpuKernel *kernel, int registers) { (void)kernel, (void)registers; }

// ---- Launching --------------------------------------------------------------------------------------------

static bool refuse(GpuError *error, FindingKind kind, const char *message) {
    gpu_fail(error, false, "%s", message);
    error->finding = kind;
    return false;
}

// The driver answers "invalid argument" to any of these; report which it is.
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
    int most = nvidia_kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (most > 0 && threads > (uint64_t)most) {
        snprintf(words, sizeof words,
                 "a block of this kernel can have at most %d threads (%d registers each, or "
                 "__launch_bounds__), not %llu",
                 most, kernel->registers, (unsigned long long)threads);
        return refuse(error, FINDING_RESOURCE, words);
    }
    int declared = nvidia_kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    if ((uint64_t)declared + launch->dynamic_shared > (uint64_t)info->shared_per_block_optin) {
        snprintf(words, sizeof words, "a block needs %llu bytes of shared memory; the GPU has %d",
                 (unsigned long long)declared + launch->dynamic_shared, info->shared_per_block_optin);
        return refuse(error, FINDING_BAD_LAUNCH, words);
    }
    if ((uint64_t)declared + launch->dynamic_shared > (uint64_t)info->shared_per_block) {
        // More than 48 KiB must be asked for, kernel by kernel.
        CUresult result = gpu->driver->function_set_attribute(
            kernel->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->dynamic_shared);
        if (result != CUDA_SUCCESS)
            return nvidia_fail(gpu, result, "give a block that much shared memory", error);
    }
    return true;
}

// A launch in clusters of the size that it names.
static CUresult launch_clusters(const NvidiaGpu *self, const GpuKernel *kernel, const GpuLaunch *launch,
                                void **extra) {
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster.value.clusterDim.x = launch->cluster[0];
    cluster.value.clusterDim.y = launch->cluster[1] ? launch->cluster[1] : 1;
    cluster.value.clusterDim.z = launch->cluster[2] ? launch->cluster[2] : 1;
    const CUlaunchConfig config = {.gridDimX = launch->grid[0],
                                   .gridDimY = launch->grid[1],
                                   .gridDimZ = launch->grid[2],
                                   .blockDimX = launch->block[0],
                                   .blockDimY = launch->block[1],
                                   .blockDimZ = launch->block[2],
                                   .sharedMemBytes = launch->dynamic_shared,
                                   .hStream = self->stream,
                                   .attrs = &cluster,
                                   .numAttrs = 1};
    if (!self->driver->launch_with) return CUDA_ERROR_NOT_SUPPORTED;
    return self->driver->launch_with(&config, kernel->handle, NULL, extra);
}

static bool launch_async(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, GpuError *error) {
    NvidiaGpu *self = nvidia_of(gpu);
    if (!nvidia_is_usable(self, error) || !check_shape(self, kernel, launch, error)) return false;
    size_t bytes = launch->argument_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)launch->arguments, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    CUresult result =
        launch->cluster[0]
            ? launch_clusters(self, kernel, launch, bytes ? extra : NULL)
            : self->driver->launch(kernel->handle, launch->grid[0], launch->grid[1], launch->grid[2],
                                   launch->block[0], launch->block[1], launch->block[2],
                                   launch->dynamic_shared, self->stream, NULL, bytes ? extra : NULL);
    if (result == CUDA_SUCCESS) return true;
    nvidia_fail(self, result, "launch the kernel", error);
    if (result == CUDA_ERROR_INVALID_VALUE)
        refuse(error, FINDING_BAD_LAUNCH, "the driver refuses this launch shape");
    return false;
}

static bool launch(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *how, EmulatorResult *result,
                   GpuError *error) {
    double began = monotonic_seconds();
    // What the kernel prints goes to this process's stdout, written by the driver when it synchronises.
    bool good = launch_async(gpu, kernel, how, error) && wait_for(nvidia_of(gpu), "run the kernel", error);
    result->completed = good;
    result->seconds = monotonic_seconds() - began;
    return good;
}

// ---- Opening and closing ----------------------------------------------------------------------------------

static void close_device(Gpu *gpu) {
    NvidiaGpu *self = nvidia_of(gpu);
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
    .load = nvidia_load,
    .unload = nvidia_unload,
    .reset_variables = nvidia_reset_variables,
    .find_variable = nvidia_find_variable,
    .find_kernel = nvidia_find_kernel,
    .kernel_parameters = nvidia_kernel_parameters,
    .kernel_set_registers = kernel_set_registers,
    .launch = launch,
    .timer_create = nvidia_timer_create,
    .timer_free = nvidia_timer_free,
    .timer_start = nvidia_timer_start,
    .timer_stop = nvidia_timer_stop,
    .timer_is_ahead = nvidia_timer_is_ahead,
    .timer_seconds = nvidia_timer_seconds,
    .launch_async = launch_async,
    .fill_async = fill_async,
    .synchronize = synchronize,
    .clocks = nvidia_clocks,
};

// "580.159.04" if the kernel module reports it, otherwise the CUDA version that the driver supports.
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
    int clock_khz = 0;
    if (gpu->driver->device_attribute(&clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, gpu->device) ==
        CUDA_SUCCESS)
        info->peak_tflop_per_s = gpu_peak_tflop_per_s(info, clock_khz);
    const GpuProfile *profile = gpu_profile_find(info->name);
    if (info->peak_gb_per_s <= 0 && profile) info->peak_gb_per_s = profile->info.peak_gb_per_s;
}

Gpu *nvidia_open(GpuError *error) {
    char why[512];
    const Driver *entries = nvidia_driver(why, sizeof why);
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
        nvidia_fail(gpu, result, "open the GPU", error);
        error->is_machines_fault = true;
        free(gpu);
        return NULL;
    }
    result = entries->context_set_current(context);
    if (result == CUDA_SUCCESS) result = entries->stream_create(&gpu->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS) {
        nvidia_fail(gpu, result, "open the GPU", error);
        error->is_machines_fault = true;
        close_device(&gpu->base);
        return NULL;
    }
    read_info(gpu);
    return &gpu->base;
}

#else // built without cuda.h: the emulator is all there is

Gpu *nvidia_open(GpuError *error) {
    char why[512];
    nvidia_architecture(why, sizeof why);
    gpu_fail(error, true, "%s", why);
    return NULL;
}

#endif
