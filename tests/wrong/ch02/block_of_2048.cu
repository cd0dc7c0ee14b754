// VERDICT: LAUNCH
// MISTAKE: block-of-2048 - more threads than a block may have
// DIAGNOSIS: block-too-large
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 2048;
    launch->grid = gpu->sm_count;
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
