// SKELETON VERDICT: WRONG
// Chapter 8: from one sum per block to one sum, in two ways.
//
// Blocks cannot wait for one another, so how are their sums added? Either each block adds its own to one
// float in memory with an atomic: one launch, but the hardware determines the order of the additions, and
// float addition is not associative. Or a second, small launch adds the partial sums in a fixed order: the
// same bits on every run.
#include "warpbook.cuh"

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

// The sum of this thread's share of the n floats (chapter 2). The share depends only on the launch shape:
// nothing else changes the order of the additions.
__device__ float sum_of_share(const float *in, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    return sum;
}

// One way: sum_atomic<<<grid, 256>>>(in, out, n)
LAUNCH(sum_atomic) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. out: one float, 0 before the launch, the sum of them all after it.
__global__ void sum_atomic(const float *in, float *out, int n) {
    float sum = sum_of_block(sum_of_share(in, n));

    // BEGIN SOLUTION
    // TODO 1: all blocks must add to the same float. Let exactly one thread of each do it, so that no
    //         addition is lost.
    // SKELETON: if (blockIdx.x == 0 && threadIdx.x == 0) {
    // SKELETON:     out[0] = sum;
    // SKELETON: }
    if (threadIdx.x == 0) {
        atomicAdd(out, sum);
    }
    // END SOLUTION
}

// The other way: sum_blocks<<<grid, 256>>>(in, partial, n)
//           then sum_partials<<<1, 1024>>>(partial, out, grid)
LAUNCH(sum_blocks) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// First pass. partial: one float for each block.
__global__ void sum_blocks(const float *in, float *partial, int n) {
    float sum = sum_of_block(sum_of_share(in, n));

    // BEGIN SOLUTION
    // TODO 2: store the sum of this block for the second pass, in a place that no other block
    //         writes.
    // SKELETON: if (blockIdx.x == 0 && threadIdx.x == 0) {
    // SKELETON:     partial[0] = sum;
    // SKELETON: }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
    // END SOLUTION
}

LAUNCH(sum_partials) {
    launch->block = 1024;
    launch->grid = 1; // one block, because threads can wait for each other only within a block
}

// Second pass. partial: `count` floats, one for each block of the first pass. out: one float.
__global__ void sum_partials(const float *partial, float *out, int count) {
    // BEGIN SOLUTION
    // TODO 3: sum the partials with one block, in an order that does not change from run to run. Everything
    //         you need is above.
    // SKELETON: if (threadIdx.x == 0) {
    // SKELETON:     out[0] = count > 0 ? partial[0] : 0.0f;
    // SKELETON: }
    float sum = sum_of_block(sum_of_share(partial, count));
    if (threadIdx.x == 0) {
        out[0] = sum;
    }
    // END SOLUTION
}
