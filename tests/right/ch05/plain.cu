// RIGHT: plain - floats by warps that meet in shared memory, doubles in blocks of one warp
#include "warpbook.cuh"

LAUNCH(sum_shared) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__global__ void sum_shared(const float *in, float *partial, int n) {
    __shared__ float sum_of[32];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    sum = sum_of_warp(sum);
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0f);
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

// The double task, in blocks of one warp that need nothing but shuffles.
LAUNCH(sum_shared_double) {
    launch->block = 32;
    launch->grid = max(1, min(ceil_div(n, 32), 8 * gpu->sm_count));
}

__global__ void sum_shared_double(const double *in, double *partial, int n) {
    double total = 0.0;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) {
        total += in[i];
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        total += __shfl_xor_sync(0xffffffff, total, lanes);
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
    }
}
