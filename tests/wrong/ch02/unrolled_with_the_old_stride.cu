// VERDICT: WRONG
// MISTAKE: unrolled-with-the-old-stride - takes four elements a round and still steps as for one
// DIAGNOSIS: unrolled-with-the-old-stride
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
        if (i + threads < n) sum += in[i + threads];
        if (i + 2 * threads < n) sum += in[i + 2 * threads];
        if (i + 3 * threads < n) sum += in[i + 3 * threads];
    }
    partial[thread] = sum;
}
