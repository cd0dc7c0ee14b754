// Times of an NVIDIA GPU by events on its one stream, and its clocks by the management library. As in
// device.h's table of functions.
#pragma once

#include "gpu/nvidia_driver.h"

bool nvidia_timer_create(Gpu *gpu, GpuTimer **timer, GpuError *error);
void nvidia_timer_free(Gpu *gpu, GpuTimer *timer);
bool nvidia_timer_start(Gpu *gpu, GpuTimer *timer, GpuError *error);
bool nvidia_timer_stop(Gpu *gpu, GpuTimer *timer, GpuError *error);
bool nvidia_timer_is_ahead(Gpu *gpu, GpuTimer *timer, bool *is_ahead, GpuError *error);
bool nvidia_timer_seconds(Gpu *gpu, GpuTimer *timer, double *seconds, GpuError *error);
GpuClocks nvidia_clocks(Gpu *gpu, char *why, size_t why_bytes);
