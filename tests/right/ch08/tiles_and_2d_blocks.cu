// RIGHT: tiles-and-2d-blocks - blocks of 32 x 8, and tiles of 32 and of 8 lanes of cooperative groups
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "warpbook.cuh"

namespace cg = cooperative_groups;

// The sum over a block of 32 x HEIGHT threads, each row of them a warp; the thread (0, 0) receives it.
template <int HEIGHT> __device__ float sum_of_block(float value) {
    __shared__ float sum_of[HEIGHT];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    value = cg::reduce(warp, value, cg::plus<float>());
    if (warp.thread_rank() == 0) {
        sum_of[threadIdx.y] = value;
    }
    block.sync();
    auto tile = cg::tiled_partition<HEIGHT>(block); // HEIGHT lanes side by side
    if (threadIdx.y == 0 && threadIdx.x < HEIGHT) { // one whole tile
        value = cg::reduce(tile, sum_of[threadIdx.x], cg::plus<float>());
    }
    return value;
}

// The sum of this thread's share of the n floats (chapter 2). The share depends only on the launch shape:
// nothing else changes the order of the additions.
__device__ float sum_of_share(const float *in, int n) {
    int side = blockDim.x * blockDim.y; // threads in a block
    int thread = blockIdx.x * side + threadIdx.y * blockDim.x + threadIdx.x;
    int threads = gridDim.x * side;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    return sum;
}

// One way: sum_atomic<<<grid, 256>>>(in, out, n)
LAUNCH(sum_atomic) {
    launch->block = dim3(32, 8);
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. out: one float, 0 before the launch, the sum of them all after it.
__global__ void sum_atomic(const float *in, float *out, int n) {
    float sum = sum_of_block<8>(sum_of_share(in, n));
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        atomicAdd(out, sum);
    }
}

// The other way: sum_blocks<<<grid, 256>>>(in, partial, n)
//           then sum_partials<<<1, 1024>>>(partial, out, grid)
LAUNCH(sum_blocks) {
    launch->block = dim3(32, 8);
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// First pass. partial: one float for each block.
__global__ void sum_blocks(const float *in, float *partial, int n) {
    float sum = sum_of_block<8>(sum_of_share(in, n));
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        partial[blockIdx.x] = sum;
    }
}

LAUNCH(sum_partials) {
    launch->block = dim3(32, 32);
    launch->grid = 1; // one block, because threads can wait for each other only within a block
}

// Second pass. partial: `count` floats, one for each block of the first pass. out: one float.
__global__ void sum_partials(const float *partial, float *out, int count) {
    float sum = sum_of_block<32>(sum_of_share(partial, count));
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        out[0] = sum;
    }
}
