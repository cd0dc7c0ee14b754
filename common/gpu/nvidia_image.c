#if __has_include(<cuda.h>)
#include "gpu/nvidia_image.h"

#include <stdio.h>
#include <string.h>

void nvidia_unload(GpuImage *image) {
    NvidiaGpu *self = nvidia_of(image->gpu);
    if (image->handle && !self->is_lost) self->driver->module_unload(image->handle);
    image->handle = NULL;
}

bool nvidia_load(GpuImage *image, GpuError *error) {
    NvidiaGpu *self = nvidia_of(image->gpu);
    if (!nvidia_is_usable(self, error)) return false;
    char log[2048] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    CUmodule module = NULL;
    CUresult result = self->driver->module_load(&module, image->text, 2, options, values);
    if (result == CUDA_SUCCESS) {
        image->handle = module;
        return true;
    }
    nvidia_fail(self, result, "load the image", error);
    if (strstr(
            log,
            "uses too much")) { // the driver's own ptxas, whose words driver/build/ptxas_output.c reads too
        gpu_fail(error, false, "%s: %.800s", image->name, log);
        error->finding = FINDING_RESOURCE;
    } else if (result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_INVALID_IMAGE ||
               result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
        gpu_fail(error, false, "%s is not an image for compute capability %d.%d%s%.800s", image->name,
                 self->base.info.compute_major, self->base.info.compute_minor, log[0] ? ": " : "", log);
    } else if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        gpu_fail(error, true, "the NVIDIA driver (%s) is older than the compiler that made %s: update it",
                 self->base.info.driver_version, image->name);
    }
    return false;
}

static bool find_function(GpuImage *image, const char *name, CUfunction *function, GpuError *error) {
    NvidiaGpu *self = nvidia_of(image->gpu);
    if (!nvidia_is_usable(self, error)) return false;
    if (!image->handle) return gpu_fail(error, false, "the image is not loaded");
    CUresult result = self->driver->module_function(function, image->handle, name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return gpu_fail(error, false, "there is no kernel %s in the image", name);
    // Drivers load code lazily; do it now, not within the first timed launch.
    if (result == CUDA_SUCCESS && self->driver->function_load)
        result = self->driver->function_load(*function);
    return result == CUDA_SUCCESS || nvidia_fail(self, result, "find the kernel", error);
}

// Whether there is anything to reset: PTX says `.global` before a variable of the module, and `ld.global.u32`
// or the like in an instruction. For machine code this is not known.
static bool may_have_variables(const GpuImage *image) {
    if (memcmp(image->text, "\177ELF", 4) == 0) return true;
    static const char word[] = ".global";
    for (const char *at = strstr(image->text, word); at; at = strstr(at, word)) {
        at += sizeof word - 1;
        if (*at != '.') return true;
    }
    return false;
}

// The driver has no call for this, so the image is loaded again and every kernel is looked up again.
bool nvidia_reset_variables(GpuImage *image, GpuError *error) {
    if (!nvidia_is_usable(nvidia_of(image->gpu), error)) return false;
    if (image->bytes >= 4 && !may_have_variables(image)) return true;
    nvidia_unload(image);
    if (!nvidia_load(image, error)) return false;
    for (GpuKernel *kernel = image->kernels; kernel; kernel = kernel->next) {
        CUfunction function = NULL;
        if (!find_function(image, kernel->name, &function, error)) return false;
        kernel->handle = function;
    }
    return true;
}

bool nvidia_find_variable(GpuImage *image, GpuBuffer *variable, GpuError *error) {
    NvidiaGpu *self = nvidia_of(image->gpu);
    CUdeviceptr address = 0;
    size_t bytes = 0;
    if (!nvidia_is_usable(self, error)) return false;
    if (!image->handle) return gpu_fail(error, false, "the image is not loaded");
    const CUresult result = self->driver->module_global(&address, &bytes, image->handle, variable->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return gpu_fail(error, false, "there is no variable %s in the image", variable->name);
    if (result != CUDA_SUCCESS) return nvidia_fail(self, result, "find the variable", error);
    variable->address = address;
    variable->bytes = bytes;
    return true;
}

int nvidia_kernel_attribute(const GpuKernel *kernel, CUfunction_attribute attribute) {
    int value = 0;
    const NvidiaGpu *gpu = nvidia_of(kernel->gpu);
    return gpu->driver->function_attribute(&value, attribute, kernel->handle) == CUDA_SUCCESS ? value : 0;
}

GpuKernel *nvidia_find_kernel(GpuImage *image, const char *name, GpuError *error) {
    CUfunction function = NULL;
    if (!find_function(image, name, &function, error)) return NULL;
    GpuKernel *kernel = gpu_keep_kernel(image, name, function, error);
    if (kernel) kernel->registers = nvidia_kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS);
    return kernel;
}

bool nvidia_kernel_parameters(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]) {
    const Driver *entries = nvidia_of(kernel->gpu)->driver;
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

#endif
