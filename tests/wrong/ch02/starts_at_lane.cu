// VERDICT: WRONG
// MISTAKE: starts-at-lane - starts at the number in the block: every block reads the same elements
// DIAGNOSIS: same-elements-in-each-block
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    for (int i = threadIdx.x; i < n; i += threads) {
        sum += in[i];
    }

    partial[thread] = sum;
}
