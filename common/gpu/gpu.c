// The calls of gpu.h: argument checks that hold for every device, then through the table of functions.
#include "gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"
#include "gpu/emulated.h"
#include "gpu/nvidia.h"
#include "gpu/nvidia_driver.h"

int gpu_nvidia_architecture(char *why, size_t why_bytes) { return nvidia_architecture(why, why_bytes); }

bool gpu_nvidia_present(char *why, size_t why_bytes) { return nvidia_architecture(why, why_bytes) > 0; }

Gpu *gpu_open(GpuKind kind, const char *profile, GpuError *error) {
    *error = (GpuError){0};
    if (kind == GPU_EMULATOR) return emulated_open(profile, error);
    Gpu *gpu = nvidia_open(error);
    if (gpu || kind == GPU_NVIDIA) return gpu;
    *error = (GpuError){0}; // without a GPU, AUTO means the emulator
    return emulated_open(profile, error);
}

void gpu_close(Gpu *gpu) {
    if (!gpu) return;
    while (gpu->images) gpu_unload(gpu->images);
    gpu->functions->close(gpu);
}

const GpuInfo *gpu_info(const Gpu *gpu) { return &gpu->info; }

bool gpu_set_limits(Gpu *gpu, size_t printf_bytes, size_t stack_bytes, GpuError *error) {
    *error = (GpuError){0};
    return gpu->functions->set_limits(gpu, printf_bytes, stack_bytes, error);
}

// ---- Memory -----------------------------------------------------------------------------------------------

bool gpu_allocate(Gpu *gpu, size_t bytes, unsigned misalignment, const char *name, GpuBuffer *buffer,
                  GpuError *error) {
    *error = (GpuError){0};
    *buffer = (GpuBuffer){.bytes = bytes, .misalignment = misalignment};
    snprintf(buffer->name, sizeof buffer->name, "%s", name ? name : "");
    if (misalignment > GPU_MOST_MISALIGNMENT)
        return gpu_fail(error, false, "a misalignment is at most 65,535 bytes, not %u", misalignment);
    if (gpu->functions->allocate(gpu, buffer, error)) return true;
    buffer->address = 0; // so that no other call treats it as a message
    return false;
}

bool gpu_adopt(Gpu *gpu, void *memory, size_t bytes, size_t period, const char *name, GpuBuffer *buffer,
               GpuError *error) {
    *error = (GpuError){0};
    *buffer = (GpuBuffer){.bytes = bytes};
    snprintf(buffer->name, sizeof buffer->name, "%s", name);
    if (!gpu->functions->adopt) return gpu_fail(error, false, "a GPU has its own memory");
    return gpu->functions->adopt(gpu, buffer, memory, period, error);
}

bool gpu_free(Gpu *gpu, GpuBuffer *buffer, GpuError *error) {
    *error = (GpuError){0};
    if (buffer->address == 0) return true; // never allocated, or freed before
    bool good = gpu->functions->free(gpu, buffer, error);
    buffer->address = 0;
    buffer->internal = NULL;
    return good;
}

static bool is_allocated(const GpuBuffer *buffer, GpuError *error) {
    return buffer->address != 0 || gpu_fail(error, false, "the buffer %s is not allocated", buffer->name);
}

static bool is_within(const GpuBuffer *buffer, size_t offset, size_t bytes, GpuError *error) {
    if (!is_allocated(buffer, error)) return false;
    if (offset <= buffer->bytes && bytes <= buffer->bytes - offset) return true;
    return gpu_fail(error, false, "bytes %zu to %zu lie outside the buffer %s of %zu bytes", offset,
                    offset + bytes, buffer->name, buffer->bytes);
}

bool gpu_write(Gpu *gpu, const GpuBuffer *buffer, size_t offset, const void *from, size_t bytes,
               GpuError *error) {
    *error = (GpuError){0};
    if (!is_within(buffer, offset, bytes, error)) return false;
    return bytes == 0 || gpu->functions->write(gpu, buffer, offset, from, bytes, error);
}

bool gpu_read(Gpu *gpu, void *to, const GpuBuffer *buffer, size_t offset, size_t bytes, GpuError *error) {
    *error = (GpuError){0};
    if (!is_within(buffer, offset, bytes, error)) return false;
    return bytes == 0 || gpu->functions->read(gpu, to, buffer, offset, bytes, error);
}

bool gpu_fill(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, bool initialised, GpuError *error) {
    *error = (GpuError){0};
    if (!is_allocated(buffer, error)) return false;
    return buffer->bytes == 0 || gpu->functions->fill(gpu, buffer, pattern, initialised, error);
}

bool gpu_set_read_only(Gpu *gpu, const GpuBuffer *buffer, bool read_only, GpuError *error) {
    *error = (GpuError){0};
    if (!is_allocated(buffer, error)) return false;
    return gpu->functions->set_read_only(gpu, buffer, read_only, error);
}

bool gpu_guards_intact(Gpu *gpu, const GpuBuffer *buffer, int64_t *index, GpuError *error) {
    *error = (GpuError){0};
    *index = 0;
    if (!is_allocated(buffer, error)) return false;
    return gpu->functions->guards_intact(gpu, buffer, index, error);
}

// ---- Images and kernels -----------------------------------------------------------------------------------

GpuImage *gpu_load(Gpu *gpu, const void *image, size_t bytes, const char *name, GpuError *error) {
    *error = (GpuError){0};
    GpuImage *made = calloc(1, sizeof *made);
    if (made) made->text = malloc(bytes + 1);
    if (!made || !made->text) {
        free(made);
        gpu_fail(error, true, "out of memory");
        return NULL;
    }
    memcpy(made->text, image, bytes);
    made->text[bytes] = '\0';
    made->gpu = gpu;
    made->bytes = bytes;
    snprintf(made->name, sizeof made->name, "%s", name ? name : "the image");
    if (!gpu->functions->load(made, error)) {
        gpu_free_image(made);
        return NULL;
    }
    made->next = gpu->images;
    gpu->images = made;
    return made;
}

GpuImage *gpu_load_again(const GpuImage *image, GpuError *error) {
    return gpu_load(image->gpu, image->text, image->bytes, image->name, error);
}

void gpu_unload(GpuImage *image) {
    if (!image) return;
    for (GpuImage **at = &image->gpu->images; *at; at = &(*at)->next) {
        if (*at != image) continue;
        *at = image->next;
        break;
    }
    image->gpu->functions->unload(image);
    gpu_free_image(image);
}

bool gpu_reset_variables(GpuImage *image, GpuError *error) {
    *error = (GpuError){0};
    return image->gpu->functions->reset_variables(image, error);
}

bool gpu_find_variable(GpuImage *image, const char *name, GpuBuffer *variable, GpuError *error) {
    *error = (GpuError){0};
    *variable = (GpuBuffer){0};
    snprintf(variable->name, sizeof variable->name, "%s", name);
    return image->gpu->functions->find_variable(image, variable, error);
}

GpuKernel *gpu_find_kernel(GpuImage *image, const char *name, GpuError *error) {
    *error = (GpuError){0};
    for (GpuKernel *kernel = image->kernels; kernel; kernel = kernel->next) {
        if (strcmp(kernel->name, name) == 0) return kernel;
    }
    return image->gpu->functions->find_kernel(image, name, error);
}

bool gpu_kernel_parameters(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]) {
    *count = 0;
    return kernel->gpu->functions->kernel_parameters(kernel, count, offsets, sizes);
}

int gpu_kernel_registers(const GpuKernel *kernel) { return kernel->registers; }

void gpu_kernel_set_registers(GpuKernel *kernel, int registers) {
    kernel->gpu->functions->kernel_set_registers(kernel, registers);
}

// ---- Launching and timing ---------------------------------------------------------------------------------

bool gpu_launch(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, EmulatorResult *result,
                GpuError *error) {
    *error = (GpuError){0};
    *result = (EmulatorResult){0};
    return gpu->functions->launch(gpu, kernel, launch, result, error);
}

bool gpu_timer_create(Gpu *gpu, GpuTimer **timer, GpuError *error) {
    *error = (GpuError){0};
    *timer = NULL;
    return gpu->functions->timer_create(gpu, timer, error);
}

void gpu_timer_free(Gpu *gpu, GpuTimer *timer) {
    if (timer) gpu->functions->timer_free(gpu, timer);
}

bool gpu_timer_start(Gpu *gpu, GpuTimer *timer, GpuError *error) {
    *error = (GpuError){0};
    return gpu->functions->timer_start(gpu, timer, error);
}

bool gpu_timer_stop(Gpu *gpu, GpuTimer *timer, GpuError *error) {
    *error = (GpuError){0};
    return gpu->functions->timer_stop(gpu, timer, error);
}

bool gpu_timer_is_ahead(Gpu *gpu, GpuTimer *timer, bool *is_ahead, GpuError *error) {
    *error = (GpuError){0};
    *is_ahead = false;
    return gpu->functions->timer_is_ahead(gpu, timer, is_ahead, error);
}

bool gpu_timer_seconds(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error) {
    *error = (GpuError){0};
    *seconds = 0;
    return gpu->functions->timer_seconds(gpu, timer, seconds, error);
}

bool gpu_launch_async(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, GpuError *error) {
    *error = (GpuError){0};
    return gpu->functions->launch_async(gpu, kernel, launch, error);
}

bool gpu_fill_async(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, GpuError *error) {
    *error = (GpuError){0};
    if (!is_allocated(buffer, error)) return false;
    if (buffer->misalignment % 4 != 0)
        return gpu_fail(error, false, "the buffer %s is misaligned", buffer->name);
    return buffer->bytes == 0 || gpu->functions->fill_async(gpu, buffer, pattern, error);
}

GpuClocks gpu_clocks(Gpu *gpu, char *why, size_t why_bytes) {
    if (why && why_bytes) why[0] = '\0';
    return gpu->functions->clocks(gpu, why, why_bytes);
}

bool gpu_synchronize(Gpu *gpu, GpuError *error) {
    *error = (GpuError){0};
    return gpu->functions->synchronize(gpu, error);
}
