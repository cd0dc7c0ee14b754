// VERDICT: WRONG
// MISTAKE: chunks-overlap - the end of a chunk is taken as its last element, and added twice
// DIAGNOSIS: chunks-overlap
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    int chunk = (n + threads - 1) / threads;
    float sum = 0.0f;
    for (int i = thread * chunk; i <= (thread + 1) * chunk && i < n; i++) {
        sum += in[i];
    }
    partial[thread] = sum;
}
