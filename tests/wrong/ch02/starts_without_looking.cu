// VERDICT: OOB
// MISTAKE: starts-without-looking - a do-while reads before it asks whether there is anything
// DIAGNOSIS: empty-array-not-considered
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    int i = thread;
    do {
        sum += in[i];
        i += threads;
    } while (i < n);
    partial[thread] = sum;
}
