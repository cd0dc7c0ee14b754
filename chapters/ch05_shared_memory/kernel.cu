// Chapter 5: warps combine their sums in shared memory.
//
// A shuffle cannot leave its warp. To combine the warps of a block, each stores its sum in shared memory,
// a small and fast memory on the SM that the whole block can access; after one barrier the first warp
// reads these sums.
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

    // TODO 1: make room in shared memory for one float per warp (a block has at most 32 of them), and let
    //         each warp store its sum there.

    // TODO 2: no thread may read a slot before its warp has written it. What guarantees that?

    // TODO 3: let the first warp read the slots, one per lane, and sum them once more. There are more lanes
    //         than slots: what does a lane without a slot add? So far only the first warp's sum is kept.
    sum = lane + warp == 0 ? sum : 0.0f;

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

    // TODO 4: the same again, from the slots to the last fold. A double loses more than half of its digits as
    //         soon as it passes through one float: check every variable on its way.
    sum = lane + warp == 0 ? sum : 0.0;

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
