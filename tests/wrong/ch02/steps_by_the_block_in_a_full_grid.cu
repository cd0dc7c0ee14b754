// VERDICT: TIMEOUT
// MISTAKE: steps-by-the-block-in-a-full-grid - every block goes through all that lies behind it
// DIAGNOSIS: stride-of-a-block
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += blockDim.x) {
        sum += in[i];
    }
    partial[thread] = sum;
}
