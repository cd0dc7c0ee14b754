// VERDICT: OOB
// MISTAKE: no-bound-in-the-last-round - the rounds are rounded up, and the last one is not checked
// DIAGNOSIS: no-bound
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    int rounds = (n + threads - 1) / threads;
    float sum = 0.0f;
    for (int round = 0; round < rounds; round++) {
        sum += in[round * threads + thread];
    }
    partial[thread] = sum;
}
