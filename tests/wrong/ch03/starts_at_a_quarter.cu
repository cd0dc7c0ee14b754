// VERDICT: WRONG
// MISTAKE: starts-at-a-quarter - the first stride is a quarter of the block: the second half is never added
// DIAGNOSIS: level-missing
#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int tid = threadIdx.x;
    int total = gridDim.x * blockDim.x;
    int at = blockIdx.x * blockDim.x + tid;
    float sum = 0.0f;
    while (at < n) {
        sum += in[at];
        at += total;
    }
    float *slots = scratch + blockIdx.x * blockDim.x;
    slots[tid] = sum;
    __syncthreads();
    for (unsigned stride = blockDim.x >> 2; stride > 0; stride >>= 1) {
        if (tid < stride) {
            slots[tid] = slots[tid] + slots[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        partial[blockIdx.x] = slots[0];
    }
}
