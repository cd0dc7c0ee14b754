// RIGHT: cooperative-groups-tile - a tile of 32 threads and its reduce
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "warpbook.cuh"

LAUNCH(sum_shuffle) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    sum = cooperative_groups::reduce(warp, sum, cooperative_groups::plus<float>());
    if (warp.thread_rank() == 0) {
        partial[thread / 32] = sum;
    }
}
