// RIGHT: cooperative-groups - the same tree, its barrier spelt as a group's
#include <cooperative_groups.h>

#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    float *tree = scratch + blockIdx.x * blockDim.x;
    tree[threadIdx.x] = sum;

    cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
    block.sync();
    for (int stride = block.size() / 2; stride > 0; stride /= 2) {
        if (block.thread_rank() < stride) {
            tree[block.thread_rank()] += tree[block.thread_rank() + stride];
        }
        block.sync();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
