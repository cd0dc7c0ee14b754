// The implementation of a Gpu: one table of functions for each kind of device, and code that both kinds need.
// gpu.c calls through the table; emulated.c and nvidia.c fill it in. Nothing outside this folder includes
// this.
#pragma once

#include "gpu/gpu.h"

typedef struct {
    void (*close)(Gpu *gpu);
    bool (*set_limits)(Gpu *gpu, size_t printf_bytes, size_t stack_bytes, GpuError *error);
    bool (*allocate)(Gpu *gpu, GpuBuffer *buffer,
                     GpuError *error); // bytes, misalignment and name are filled in
    // NULL: it cannot
    bool (*adopt)(Gpu *gpu, GpuBuffer *buffer, void *memory, size_t period, GpuError *error);
    bool (*free)(Gpu *gpu, GpuBuffer *buffer, GpuError *error);
    bool (*write)(Gpu *gpu, const GpuBuffer *buffer, size_t offset, const void *from, size_t bytes,
                  GpuError *error);
    bool (*read)(Gpu *gpu, void *to, const GpuBuffer *buffer, size_t offset, size_t bytes, GpuError *error);
    bool (*fill)(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, bool initialised, GpuError *error);
    bool (*set_read_only)(Gpu *gpu, const GpuBuffer *buffer, bool read_only, GpuError *error);
    bool (*guards_intact)(Gpu *gpu, const GpuBuffer *buffer, int64_t *index, GpuError *error);
    bool (*load)(GpuImage *image, GpuError *error); // its text, bytes and name are filled in
    void (*unload)(GpuImage *image);
    bool (*reset_variables)(GpuImage *image, GpuError *error);
    bool (*find_variable)(GpuImage *image, GpuBuffer *variable, GpuError *error); // its name is filled in
    GpuKernel *(*find_kernel)(GpuImage *image, const char *name, GpuError *error);
    bool (*kernel_parameters)(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]);
    void (*kernel_set_registers)(GpuKernel *kernel, int registers);
    bool (*launch)(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, EmulatorResult *result,
                   GpuError *error);
    bool (*timer_create)(Gpu *gpu, GpuTimer **timer, GpuError *error);
    void (*timer_free)(Gpu *gpu, GpuTimer *timer);
    bool (*timer_start)(Gpu *gpu, GpuTimer *timer, GpuError *error);
    bool (*timer_stop)(Gpu *gpu, GpuTimer *timer, GpuError *error);
    bool (*timer_is_ahead)(Gpu *gpu, GpuTimer *timer, bool *is_ahead, GpuError *error);
    bool (*timer_seconds)(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error);
    bool (*launch_async)(Gpu *gpu, const GpuKernel *kernel, const GpuLaunch *launch, GpuError *error);
    bool (*fill_async)(Gpu *gpu, const GpuBuffer *buffer, uint32_t pattern, GpuError *error);
    bool (*synchronize)(Gpu *gpu, GpuError *error);
    GpuClocks (*clocks)(Gpu *gpu, char *why, size_t why_bytes);
} GpuFunctions;

// The first member of either kind's own struct.
struct Gpu {
    const GpuFunctions *functions;
    GpuInfo info;
    GpuImage *images;
};

struct GpuImage {
    Gpu *gpu;
    GpuImage *next;
    char *text; // a copy, NUL terminated, since the driver knows PTX's end by it
    size_t bytes;
    char name[256];
    GpuKernel *kernels; // those found in it, each once
    void *handle;       // EmulatorImage or CUmodule
};

struct GpuKernel {
    Gpu *gpu;
    GpuKernel *next;
    char name[256];
    int registers; // per thread; 0 unknown
    void *handle;  // EmulatorKernel or CUfunction
};

// Fills `error` as a call's fault, no kernel's. Always false.
bool gpu_fail(GpuError *error, bool is_machines_fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Adds a kernel to image->kernels. NULL without memory.
GpuKernel *gpu_keep_kernel(GpuImage *image, const char *name, void *handle, GpuError *error);
// Frees an image that the device has unloaded, with its kernels.
void gpu_free_image(GpuImage *image);
