// NVIDIA's management library, opened at run time where it is installed: whether a device's clocks are held
// down. It is only ever asked; nothing is set through it.
#pragma once

#include "gpu/gpu.h"

// The library's handle of the device at a PCI address ("0000:18:00.0"); NULL with the reason in `why`.
void *nvml_device(const char *bus_id, char *why, size_t why_bytes);
// What it says of the device's clocks at this moment, as gpu_clocks().
GpuClocks nvml_clocks(void *device, char *why, size_t why_bytes);
