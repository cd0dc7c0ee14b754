// RIGHT: barrier-by-number - named barriers by inline PTX, one for even levels and one for odd
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
    asm volatile("barrier.sync 1;" ::: "memory");
    int level = 0;
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2, level++) {
        if (threadIdx.x < stride) {
            tree[threadIdx.x] += tree[threadIdx.x + stride];
        }
        if (level % 2 == 0) {
            asm volatile("barrier.sync 2;" ::: "memory");
        } else {
            asm volatile("barrier.sync 1;" ::: "memory");
        }
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
