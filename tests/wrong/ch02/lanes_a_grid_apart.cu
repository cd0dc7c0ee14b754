// VERDICT: SLOW
// MISTAKE: lanes-a-grid-apart - a grid-stride loop in which neighbours in a block are gridDim apart
// DIAGNOSIS: uncoalesced
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = threadIdx.x * gridDim.x + blockIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
