// VERDICT: SYNC
// MISTAKE: only-lanes-with-a-slot - only the 8 lanes that have a slot do the last fold, whose mask names all 32
// DIAGNOSIS: shuffle-in-a-branch
#include "warpbook.cuh"

// In a program of your own this launch reads: sum_shared<<<grid, 256>>>(in, partial, n)
LAUNCH(sum_shared) {
    launch->block = 256; // 8 whole warps
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// The sum over the 32 lanes of a warp (chapter 4); lane 0 receives it. __device__: kernels call it. A
// template: Number is the type that it is called with, float or double.
template <typename Number> __device__ Number sum_of_warp(Number value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

// in: n floats. partial: one float for each block, the sum of that block's share.
__global__ void sum_shared(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32; // within the block

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    sum = sum_of_warp(sum);
    __shared__ float sum_of[32];
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    __syncthreads();
    int warps = blockDim.x / 32;
    if (threadIdx.x < warps) {
        sum = sum_of[threadIdx.x];
        sum = sum_of_warp(sum);
    }

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

// ---- The same in double -----------------------------------------------------------------------------------

LAUNCH(sum_shared_double) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n doubles. partial: one double for each block, the sum of that block's share.
__global__ void sum_shared_double(const double *in, double *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    double sum = 0.0;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    sum = sum_of_warp(sum);
    __shared__ double sum_of[32];
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0);
    }

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
