// VERDICT: WRONG
// MISTAKE: one-element-a-thread - no loop: what lies beyond the first round of the grid is left out
// DIAGNOSIS: one-element-a-thread
#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float *tree = scratch + blockIdx.x * blockDim.x;
    tree[threadIdx.x] = thread < n ? in[thread] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            tree[threadIdx.x] += tree[threadIdx.x + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
