// Cleans a GPU's second-level cache, and measures the most that the GPU reads, with a small kernel of the
// workbook that is loaded beside the timed images.
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

// Queues writes and then reads over the whole buffer. Afterwards the cache contains nothing from before, and
// no line that must still be written back.
bool sweep_queue(Sweep *sweep, GpuError *error);

// The bandwidth, in bytes a second, at which the kernel reads `bytes` of memory that no cache holds: the
// median of several runs, of the launch shape that reads fastest. 0 where there is no room for them.
bool sweep_read_ceiling(Sweep *sweep, size_t bytes, double *bytes_per_second, GpuError *error);
