// RIGHT: cooperative groups: a tile of 32 folds, and the thread of rank 0 stores
#include <cooperative_groups.h>

#include "warpbook.cuh"

namespace cg = cooperative_groups;

// In a program of your own this launch reads: sum_shuffle<<<grid, 256>>>(in, partial, n)
LAUNCH(sum_shuffle) {
    launch->block = 256; // whole warps: a multiple of 32
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. partial: one float for each warp of the grid, the sum of that warp's share.
__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    // All 32 lanes meet here, those that found nothing to add too: they bring a zero.
    auto warp_group = cg::tiled_partition<32>(cg::this_thread_block());
    for (int distance = warp_group.size() / 2; distance > 0; distance >>= 1) {
        sum += warp_group.shfl_down(sum, distance);
    }
    int lane = threadIdx.x % 32;
    int warp = thread / 32;
    if (warp_group.thread_rank() == 0 && lane == 0) {
        partial[warp] = sum;
    }
}
