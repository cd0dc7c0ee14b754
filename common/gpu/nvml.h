// NVIDIA's management library, opened at run time where it is installed: whether a device's clocks are
// throttled. It is only queried, never used to set anything.
#pragma once

#include "gpu/gpu.h"

// The library's handle of the device at a PCI address ("0000:18:00.0"); NULL with the reason in `why`.
void *nvml_device(const char *bus_id, char *why, size_t why_bytes);
// The current state of the device's clocks, as in gpu_clocks().
GpuClocks nvml_clocks(void *device, char *why, size_t why_bytes);
