// VERDICT: RACE
// MISTAKE: everybody-adds - every thread with a partner adds, so that slots are read that their owner is just changing
// DIAGNOSIS: tree-threads-overlap
#include "warpbook.cuh"

// In a program of your own this launch reads: sum_tree<<<grid, 256>>>(in, scratch, partial, n)
LAUNCH(sum_tree) {
    launch->block = 256; // a power of two, so that every level halves evenly
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. scratch: one float for each thread of the grid, not initialised.
// partial: one float for each block, the sum of that block's share.
__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }

    float *tree = scratch + blockIdx.x * blockDim.x; // the slots of this block
    tree[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x + stride < blockDim.x) {
            tree[threadIdx.x] += tree[threadIdx.x + stride];
        }
        __syncthreads();
    }

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
