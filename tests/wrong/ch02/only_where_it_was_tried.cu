// VERDICT: WRONG
// MISTAKE: only-where-it-was-tried - the code is left out for any architecture but the author's
// DIAGNOSIS: depends-on-the-architecture
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;

    float sum = 0.0f;
#if __CUDA_ARCH__ >= 1200
    int threads = gridDim.x * blockDim.x;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
#endif
    partial[thread] = sum;
}
