// SKELETON VERDICT: WRONG
// Chapter 5: warps meet in shared memory.
//
// A shuffle ends at the border of its warp. To bring the warps of a block together, each leaves its sum in
// shared memory, a small and fast store on the SM that the whole block sees; after one barrier the first
// warp gathers what the others left.
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

    // BEGIN SOLUTION
    // TODO 1: make room in shared memory for one float a warp (a block has at most 32 of them), and let
    //         each warp leave its sum there.
    __shared__ float sum_of[32];
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    // END SOLUTION

    // BEGIN SOLUTION
    // TODO 2: nobody may read a slot before the warp that owns it has written. What guarantees that?
    __syncthreads();
    // END SOLUTION

    // BEGIN SOLUTION
    // TODO 3: let the first warp gather the slots, one a lane, and sum them once more. There are more lanes
    //         than slots: what does a lane without a slot bring? So far only the first warp's sum is kept.
    // SKELETON: sum = lane + warp == 0 ? sum : 0.0f;
    if (warp == 0) {
        int warps = blockDim.x / 32;
        sum = lane < warps ? sum_of[lane] : 0.0f;
        sum = sum_of_warp(sum);
    }
    // END SOLUTION

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

    // BEGIN SOLUTION
    // TODO 4: once more from slots to the last fold. More than half of a double's digits are gone as soon as
    //         it passes through one float: look at every place that it goes through.
    // SKELETON: sum = lane + warp == 0 ? sum : 0.0;
    __shared__ double sum_of[32];
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0);
    }
    // END SOLUTION

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
