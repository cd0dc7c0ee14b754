// VERDICT: SLOW
// MISTAKE: chunk-per-thread - right, with the lanes of a warp a whole chunk apart
// DIAGNOSIS: uncoalesced
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
    for (int i = 0; i < chunk; i++) {
        long long at = (long long)thread * chunk + i;
        if (at < n) {
            sum += in[at];
        }
    }
    partial[thread] = sum;
}
