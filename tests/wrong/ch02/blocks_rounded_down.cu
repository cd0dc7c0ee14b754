// VERDICT: LAUNCH
// MISTAKE: blocks-rounded-down - n / 256 blocks: none at all for a small n
// DIAGNOSIS: grid-of-no-blocks
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = n / 256;
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
