// VERDICT: TIMEOUT
// MISTAKE: stride-of-block - moves on by a block, so that blocks read what others have read
// DIAGNOSIS: stride-of-a-block
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    for (int i = thread; i < n; i += blockDim.x) {
        sum += in[i];
    }

    partial[thread] = sum;
}
