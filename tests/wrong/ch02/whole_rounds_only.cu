// VERDICT: WRONG
// MISTAKE: whole-rounds-only - a round is taken only if there is another whole one behind it
// DIAGNOSIS: last-round-left-out
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    for (int i = thread; i + threads < n; i += threads) {
        sum += in[i];
    }

    partial[thread] = sum;
}
