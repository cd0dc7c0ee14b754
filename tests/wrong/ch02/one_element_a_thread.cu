// VERDICT: WRONG
// MISTAKE: one-element-a-thread - no loop: what lies beyond the first round of the grid is left out
// DIAGNOSIS: one-element-a-thread
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    partial[thread] = thread < n ? in[thread] : 0.0f;
}
