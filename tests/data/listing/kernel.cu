// SKELETON VERDICT: WRONG
// Chapter 4: the lanes of a warp read each other's registers.
//
// A shuffle reads a register of another lane: no memory, no barrier, no scratch array. Five of them, from
// distance 16 down to 1, turn the 32 sums of a warp into one.
#include "warpbook.cuh"

// In a program of your own this launch reads: sum_shuffle<<<grid, 256>>>(in, partial, n)
LAUNCH(sum_shuffle) {
    launch->block = 256; // whole warps: a multiple of 32
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. partial: one float for each warp of the grid, the sum of that warp's share.
__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    // All 32 lanes take part here, even those without an element: they contribute a zero.

    // BEGIN SOLUTION
    // TODO 1: fold the warp in half, and again, until lane 0 holds the sum of all 32 lanes.
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    // END SOLUTION

    // BEGIN SOLUTION
    // TODO 2: one lane of the warp has the sum. Which warp of the grid is this, and which lane writes? So
    //         far every lane stores a 0.
    // SKELETON: partial[thread / 32] = 0.0f;
    int lane = threadIdx.x % 32;
    int warp = thread / 32;
    if (lane == 0) {
        partial[warp] = sum;
    }
    // END SOLUTION
}
