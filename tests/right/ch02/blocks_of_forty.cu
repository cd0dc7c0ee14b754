// RIGHT: blocks-of-forty - blocks of 40 threads, so that every second warp is a quarter full
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 40;
    launch->grid = 77;
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
