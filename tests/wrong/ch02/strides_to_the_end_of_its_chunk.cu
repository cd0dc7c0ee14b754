// VERDICT: WRONG
// MISTAKE: strides-to-the-end-of-its-chunk - begins and moves on as the grid does, and stops at the end of a chunk
// DIAGNOSIS: chunk-and-stride-mixed
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    int chunk = (int)ceil_div(n, threads);
    int begin = (int)min((long long)thread * chunk, n);
    int end = (int)min((long long)begin + chunk, n);
    for (int i = thread; i < end; i += threads) {
        sum += in[i];
    }

    partial[thread] = sum;
}
