// VERDICT: WRONG
// MISTAKE: starts-at-the-block - the number of the block, where that of the thread belongs: all threads of a block add the same
// DIAGNOSIS: same-elements-in-each-thread
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    for (int i = blockIdx.x; i < n; i += threads) {
        sum += in[i];
    }

    partial[thread] = sum;
}
