#include "driver/plan/occupancy.h"

#include "emulator/model/model.h"

int resident_blocks(const GpuInfo *info, int block_threads, int registers, long long static_shared,
                    long long dynamic_shared) {
    if (block_threads < 1 || block_threads > info->max_threads_per_block) return 0;
    const ModelDevice device = {.warps_per_sm = (double)info->max_threads_per_sm / 32,
                                .blocks_per_sm = info->max_blocks_per_sm,
                                .registers_per_sm = info->registers_per_sm,
                                .shared_per_sm = info->shared_per_sm,
                                .shared_reserved_per_block = info->shared_reserved_per_block};
    const ModelShape shape = {.block_threads = block_threads,
                              .registers = registers,
                              .shared_bytes = (double)(static_shared + dynamic_shared)};
    return (int)model_resident_blocks(&device, &shape);
}
