// RIGHT: flat-block-in-three-dimensions - a block of 4 by 4 by 8 threads, whose warps run along x, then y
#include "warpbook.cuh"

LAUNCH(sum_shuffle) {
    launch->block = dim3(4, 4, 8);
    launch->grid = max(1, min(ceil_div(n, 128), 8 * gpu->sm_count));
}

__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int thread = blockIdx.x * 128 + in_block;
    int threads = gridDim.x * 128;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (in_block % 32 == 0) {
        partial[thread / 32] = sum;
    }
}
