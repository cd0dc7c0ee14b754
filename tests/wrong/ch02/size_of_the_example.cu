// VERDICT: OOB
// MISTAKE: size-of-the-example - n is not asked: 2^20 is what the lesson talks about
// DIAGNOSIS: size-built-in
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    const int size = 1 << 20;
    float sum = 0.0f;
    for (int i = thread; i < size; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
