// Occupancy: how many blocks an SM holds.
#ifndef WARPBOOK_OCCUPANCY_H
#define WARPBOOK_OCCUPANCY_H

#include "gpu/gpu.h"

// Blocks of that shape that one SM holds at a time, limited by threads, blocks, registers and shared memory
// (CUDA C++ Programming Guide, "Hardware Multithreading"; the granularities are those of cuda_occupancy.h:
// registers by warp in units of 256, shared memory in units of 128 bytes plus what the system reserves).
// 0 when not even one fits. `static_shared` is in bytes a block.
int resident_blocks(const GpuInfo *info, int block_threads, int registers, long long static_shared,
                    long long dynamic_shared);

#endif
