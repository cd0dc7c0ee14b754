// The device interface over the NVIDIA driver.
#ifndef WARPBOOK_NVIDIA_H
#define WARPBOOK_NVIDIA_H

#include "gpu/gpu.h"

// The first GPU. NULL with the reason in `error` where there is none, no driver, or no cuda.h to build with.
Gpu *nvidia_open(GpuError *error);

#endif
