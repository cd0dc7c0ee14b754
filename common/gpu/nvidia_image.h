// Images and kernels on an NVIDIA GPU. As in device.h's table of functions.
#pragma once

#include "gpu/nvidia_driver.h"

bool nvidia_load(GpuImage *image, GpuError *error);
void nvidia_unload(GpuImage *image);
bool nvidia_reset_variables(GpuImage *image, GpuError *error);
bool nvidia_find_variable(GpuImage *image, GpuBuffer *variable, GpuError *error);
GpuKernel *nvidia_find_kernel(GpuImage *image, const char *name, GpuError *error);
bool nvidia_kernel_parameters(const GpuKernel *kernel, int *count, size_t offsets[64], size_t sizes[64]);
int nvidia_kernel_attribute(const GpuKernel *kernel, CUfunction_attribute attribute);
