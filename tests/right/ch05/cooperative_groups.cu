// RIGHT: cooperative-groups - a block and its tiles of 32 as groups
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "warpbook.cuh"

LAUNCH(sum_shared) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shared(const float *in, float *partial, int n) {
    namespace cg = cooperative_groups;
    __shared__ float sum_of[32];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + block.thread_rank(); i < n; i += threads) {
        sum += in[i];
    }
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) {
        sum_of[warp.meta_group_rank()] = sum;
    }
    block.sync();
    if (warp.meta_group_rank() == 0) {
        bool has_slot = warp.thread_rank() < warp.meta_group_size();
        sum = cg::reduce(warp, has_slot ? sum_of[warp.thread_rank()] : 0.0f, cg::plus<float>());
        if (warp.thread_rank() == 0) {
            partial[blockIdx.x] = sum;
        }
    }
}

// The double task, in blocks of one warp that need nothing but shuffles.
LAUNCH(sum_shared_double) {
    launch->block = 32;
    launch->grid = max(1, min(ceil_div(n, 32), 8 * gpu->sm_count));
}

__global__ void sum_shared_double(const double *in, double *partial, int n) {
    double total = 0.0;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) {
        total += in[i];
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        total += __shfl_xor_sync(0xffffffff, total, lanes);
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
    }
}
