// RIGHT: butterfly - all threads work at each level, and every slot ends with the sum
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
    __syncthreads();

    for (int bit = 1; bit < blockDim.x; bit *= 2) {
        float other = tree[threadIdx.x ^ bit];
        __syncthreads(); // everybody has read
        tree[threadIdx.x] += other;
        __syncthreads(); // everybody has written
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
