#include "gpu/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool gpu_fail(GpuError *error, bool is_machines_fault, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    *error = (GpuError){.is_machines_fault = is_machines_fault};
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

GpuKernel *gpu_keep_kernel(GpuImage *image, const char *name, void *handle, GpuError *error) {
    GpuKernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        gpu_fail(error, true, "out of memory");
        return NULL;
    }
    *kernel = (GpuKernel){.gpu = image->gpu, .next = image->kernels, .handle = handle};
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    image->kernels = kernel;
    return kernel;
}

void gpu_free_image(GpuImage *image) {
    while (image->kernels) {
        GpuKernel *next = image->kernels->next;
        free(image->kernels);
        image->kernels = next;
    }
    free(image->text);
    free(image);
}
