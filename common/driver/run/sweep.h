// A GPU's second-level cache left clean, and the most that the GPU reads: both by one small kernel of the
// workbook's own, loaded beside the images that are timed.
#pragma once

#include "gpu/gpu.h"

typedef struct {
    Gpu *gpu;
    GpuImage *image;
    GpuKernel *reader;
    GpuBuffer room; // four times the cache
    int rounds;     // of reading it: more keep the device busy for longer. 1 unless raised
} Sweep;

// Loads the kernel and takes the memory. Release with sweep_close() in any case.
bool sweep_open(Gpu *gpu, Sweep *sweep, GpuError *error);
void sweep_close(Sweep *sweep);

// Queues writes and then reads over the whole room. Afterwards the cache holds nothing that was there before,
// and no line that is still to be written back.
bool sweep_queue(Sweep *sweep, GpuError *error);

// The bandwidth, in bytes a second, at which the kernel reads `bytes` of memory that no cache holds: the
// median of several runs, of the launch shape that reads fastest. 0 where there is no room for them.
bool sweep_read_ceiling(Sweep *sweep, size_t bytes, double *bytes_per_second, GpuError *error);
