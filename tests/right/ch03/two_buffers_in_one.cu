// RIGHT: levels of a tree that read into registers, wait, and write behind a second barrier
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
    int left = blockDim.x;
    while (left > 1) {
        int half = (left + 1) / 2;
        float taken = threadIdx.x + half < left ? tree[threadIdx.x + half] : 0.0f;
        __syncthreads();
        if (threadIdx.x < half) {
            tree[threadIdx.x] += taken;
        }
        __syncthreads();
        left = half;
    }

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
