// VERDICT: OOB
// MISTAKE: round-without-a-guard - the round is tested, not the element that this thread reads in it
// DIAGNOSIS: no-bound
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    for (int k = 0; k < n; k += threads) {
        sum += in[k + thread];
    }

    partial[thread] = sum;
}
