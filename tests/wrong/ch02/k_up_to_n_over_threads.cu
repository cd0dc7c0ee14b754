// VERDICT: OOB
// MISTAKE: k-up-to-n-over-threads - rounds 0 to n / threads, and no test whether there is an element
// DIAGNOSIS: no-bound
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    for (int k = 0; k <= n / threads; k++) {
        sum += in[thread + k * threads];
    }

    partial[thread] = sum;
}
