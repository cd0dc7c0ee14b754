// RIGHT: any-block-size - blocks of 96 threads: a level takes the upper half, rounded down, into the lower
#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 96;
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
    __syncthreads();

    for (int left = blockDim.x; left > 1; left = (left + 1) / 2) {
        int half = left / 2;
        if (threadIdx.x < half) {
            tree[threadIdx.x] += tree[left - half + threadIdx.x];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
