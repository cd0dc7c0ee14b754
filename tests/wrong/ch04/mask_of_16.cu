// VERDICT: SYNC
// MISTAKE: mask-of-16 - the mask 0xffff names 16 lanes, and all 32 call
// DIAGNOSIS: mask-too-narrow
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
    // All 32 lanes meet here, those that found nothing to add too: they bring a zero.
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffff, sum, distance);
    }
    int lane = threadIdx.x % 32;
    int warp = thread / 32;
    if (lane == 0) {
        partial[warp] = sum;
    }
}
