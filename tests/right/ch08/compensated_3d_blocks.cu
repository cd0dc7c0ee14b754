// RIGHT: compensated-3d-blocks - blocks of 8 x 8 x 4, compensated sums and a tree in shared memory
#include "warpbook.cuh"

// The sum over the 32 lanes of a warp (chapter 4); lane 0 receives it.
__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__device__ int rank_in_block() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

// The sum over a block of 256 or 1,024 threads; the first receives it. Pairs of halves until 32 are left.
__device__ float sum_of_block(float value) {
    __shared__ float slot[1024];
    int rank = rank_in_block();
    slot[rank] = value;
    __syncthreads();
    for (int half = blockDim.x * blockDim.y * blockDim.z / 2; half >= 32; half /= 2) {
        if (rank < half) {
            slot[rank] += slot[rank + half];
        }
        __syncthreads();
    }
    return rank < 32 ? sum_of_warp(slot[rank]) : 0.0f; // whole warps on either side
}

// The sum of this thread's share of the n floats (chapter 2). The share depends only on the launch shape:
// nothing else changes the order of the additions.
__device__ float sum_of_share(const float *in, int n) {
    int side = blockDim.x * blockDim.y * blockDim.z;
    long long threads = (long long)gridDim.x * side;
    float sum = 0.0f, lost = 0.0f; // what rounding took from sum
    for (long long i = (long long)blockIdx.x * side + rank_in_block(); i < n; i += threads) {
        float x = in[i];
        float next = sum + x;
        float taken = next - sum;
        lost += (sum - (next - taken)) + (x - taken);
        sum = next;
    }
    return isfinite(lost) ? sum + lost : sum; // beyond the range of floats there is nothing to compensate
}

// One way: sum_atomic<<<grid, 256>>>(in, out, n)
LAUNCH(sum_atomic) {
    launch->block = dim3(8, 8, 4);
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. out: one float, 0 before the launch, the sum of them all after it.
__global__ void sum_atomic(const float *in, float *out, int n) {
    float sum = sum_of_block(sum_of_share(in, n));
    if (rank_in_block() == 0) {
        atomicAdd(out, sum);
    }
}

// The other way: sum_blocks<<<grid, 256>>>(in, partial, n)
//           then sum_partials<<<1, 1024>>>(partial, out, grid)
LAUNCH(sum_blocks) {
    launch->block = dim3(8, 8, 4);
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// First pass. partial: one float for each block.
__global__ void sum_blocks(const float *in, float *partial, int n) {
    float sum = sum_of_block(sum_of_share(in, n));
    if (rank_in_block() == 0) {
        partial[blockIdx.x] = sum;
    }
}

LAUNCH(sum_partials) {
    launch->block = dim3(16, 16, 4);
    launch->grid = 1; // one block, because threads can wait for each other only within a block
}

// Second pass. partial: `count` floats, one for each block of the first pass. out: one float.
__global__ void sum_partials(const float *partial, float *out, int count) {
    float sum = sum_of_block(sum_of_share(partial, count));
    if (rank_in_block() == 0) {
        out[0] = sum;
    }
}
