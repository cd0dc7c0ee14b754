// The device interface over the NVIDIA driver.
#pragma once

#include "gpu/gpu.h"

// The first GPU. NULL with the reason in `error` where there is none, no driver, or no cuda.h to build with.
Gpu *nvidia_open(GpuError *error);
