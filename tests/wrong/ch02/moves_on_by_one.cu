// VERDICT: TIMEOUT
// MISTAKE: moves-on-by-one - every thread goes through all that lies behind it
// DIAGNOSIS: far-too-many-rounds
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i++) {
        sum += in[i];
    }
    partial[thread] = sum;
}
