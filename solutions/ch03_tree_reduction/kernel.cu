// SKELETON VERDICT: SLOW
// Chapter 3: the threads of a block add their sums in a tree.
//
// 256 sums become 128, then 64, and after eight levels one: eight steps instead of 255. There is a barrier
// between two levels, because a thread reads what another one wrote. The tree is in global memory here, so
// that this chapter is only about its shape: which threads work at a level, and which ones wait?
#include "warpbook.cuh"

// In a program of your own this launch reads: sum_tree<<<grid, 256>>>(in, scratch, partial, n)
LAUNCH(sum_tree) {
    launch->block = 256; // a power of two, so that every level halves evenly
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. scratch: one float for each thread of the grid, not initialised.
// partial: one float for each block, the sum of that block's share.
__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }

    float *tree = scratch + blockIdx.x * blockDim.x; // the slots of this block
    tree[threadIdx.x] = sum;
    __syncthreads();

    // BEGIN SOLUTION
    // TODO 1: this tree adds neighbours: first slots 1 apart, then 2, then 4. The threads that still work
    //         are scattered over all warps, so every warp stays busy for a few lanes. Let threads 0, 1, 2 ...
    //         add instead, next to each other, so that whole warps finish early. Two things change: the order
    //         of the strides, and the test for the threads that add at each.
    // TODO 2: keep what makes a level safe: which thread may read a slot, and when?
    // SKELETON: for (int stride = 1; stride < blockDim.x; stride *= 2) {
    // SKELETON:     if (threadIdx.x % (2 * stride) == 0) {
    // SKELETON:         tree[threadIdx.x] += tree[threadIdx.x + stride];
    // SKELETON:     }
    // SKELETON:     __syncthreads();
    // SKELETON: }
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            tree[threadIdx.x] += tree[threadIdx.x + stride];
        }
        __syncthreads(); // outside the if: every thread of the block has to arrive
    }
    // END SOLUTION

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
