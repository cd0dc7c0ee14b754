// VERDICT: SYNC
// MISTAKE: active-lanes-fold - whoever has no element skips the fold, and the mask is whoever happens to be there
// DIAGNOSIS: ballot-mask
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

    if (thread < n) {
        float sum = 0.0f;
        for (int i = thread; i < n; i += threads) {
            sum += in[i];
        }
        unsigned mask = __activemask();
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(mask, sum, distance);
        }
        if (threadIdx.x % 32 == 0) {
            partial[thread / 32] = sum;
        }
    }
}
