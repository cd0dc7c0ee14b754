// RIGHT: early-exit - threads without an element leave before the barriers, which do not wait for them
#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int threads = gridDim.x * blockDim.x;
    int begin = blockIdx.x * blockDim.x;
    int active = min((int)blockDim.x, n - begin);
    if (threadIdx.x >= max(active, 1)) {
        return;
    }
    float sum = 0.0f;
    for (int i = begin + threadIdx.x; i < n; i += threads) {
        sum += in[i];
    }
    float *tree = scratch + begin;
    tree[threadIdx.x] = sum;
    __syncthreads();
    for (int left = active; left > 1; left = (left + 1) / 2) {
        int half = left / 2;
        if (threadIdx.x < half) {
            tree[threadIdx.x] += tree[left - half + threadIdx.x];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
