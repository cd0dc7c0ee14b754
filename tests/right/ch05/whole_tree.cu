// RIGHT: whole-tree - a tree over all threads in shared memory: right, with more barriers than needed
#include "warpbook.cuh"

LAUNCH(sum_shared) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shared(const float *in, float *partial, int n) {
    __shared__ float tree[256];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    tree[threadIdx.x] = sum;
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

// The double task, in blocks of one warp that need nothing but shuffles.
LAUNCH(sum_shared_double) {
    launch->block = 32;
    launch->grid = max(1, min(ceil_div(n, 32), 8 * gpu->sm_count));
}

__global__ void sum_shared_double(const double *in, double *partial, int n) {
    double total = 0.0;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) {
        total += in[i];
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        total += __shfl_xor_sync(0xffffffff, total, lanes);
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
    }
}
