// The device interface over Warpbook's emulator.
#pragma once

#include "gpu/gpu.h"

// Imitates the device of that profile; NULL is the H200. NULL with the reason in `error` for an unknown name.
Gpu *emulated_open(const char *name, GpuError *error);
