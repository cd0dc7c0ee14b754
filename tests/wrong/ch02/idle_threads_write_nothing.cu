// VERDICT: WRONG
// MISTAKE: idle-threads-write-nothing - a thread without an element leaves its partial as it was
// DIAGNOSIS: idle-threads-write-nothing
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    if (thread >= n) {
        return;
    }
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
