// Chapter 7: sixteen bytes per load.
//
// One instruction can load four floats into a thread instead of one. The bytes that must move stay the same;
// the number of instructions falls, and the number of bytes in flight rises. The price: the address of such a
// load must be a multiple of 16. The array here may start 4, 8 or 12 bytes past one, and its length need not
// be a multiple of 4.
#include "warpbook.cuh"

// In a program of your own this launch reads: sum_float4<<<grid, 256>>>(in, partial, n)
LAUNCH(sum_float4) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 4 * 256), 4 * gpu->sm_count));
}

// The sum over the 32 lanes of a warp (chapter 4); lane 0 receives it.
__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

// The sum over a block of whole warps (chapter 5); thread 0 receives it.
__device__ float sum_of_block(float value) {
    __shared__ float sum_of[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    value = sum_of_warp(value);
    if (lane == 0) {
        sum_of[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0f);
    }
    return value;
}

// in: n floats, at any multiple of 4 bytes. partial: one float for each block.
__global__ void sum_float4(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    // TODO 1: how many floats (0 to 3) are before the first address that is a multiple of 16? Never more
    //         than n. `(size_t)in` is the address as a number.
    // TODO 2: from there on, let each thread load groups of four as one float4, as many as fit whole.
    // TODO 3: at most 3 floats before and 3 after are left: give each to a different thread.
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }

    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
