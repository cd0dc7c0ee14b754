// VERDICT: OOB
// MISTAKE: product-overflows - thread * n in 32 bits: negative as soon as it passes 2^31
// DIAGNOSIS: index-overflow
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int begin = thread * n / threads;
    int end = (thread + 1) * n / threads;
    float sum = 0.0f;
    for (int i = begin; i < end; i++) {
        sum += in[i];
    }
    partial[thread] = sum;
}
