// RIGHT: blocks-in-two-dimensions - a block of 32 by 8 threads and a grid of two columns
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(2, gpu->sm_count);
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    int thread = (block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int threads = gridDim.x * gridDim.y * blockDim.x * blockDim.y;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
