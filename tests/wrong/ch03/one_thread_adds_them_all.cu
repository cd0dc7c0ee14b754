// VERDICT: WRONG
// MISTAKE: one-thread-adds-them-all - a chain of 255 additions in place of a tree
// DIAGNOSIS: one-long-chain
#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    float *tree = scratch + blockIdx.x * blockDim.x;
    tree[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < blockDim.x; t++) {
            tree[0] += tree[t];
        }
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
