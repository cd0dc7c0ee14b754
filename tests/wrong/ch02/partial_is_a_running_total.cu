// VERDICT: UNINIT
// MISTAKE: partial-is-a-running-total - adds to a partial that nobody has set
// DIAGNOSIS: accumulates-onto-nothing
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    for (int i = thread; i < n; i += threads) {
        partial[thread] += in[i];
    }
}
