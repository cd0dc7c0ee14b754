// VERDICT: SLOW
// MISTAKE: not-unrolled - keeps the compiler from unrolling: one load is under way at a time
// DIAGNOSIS: few-loads-under-way
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

#pragma unroll 1
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }

    partial[thread] = sum;
}
