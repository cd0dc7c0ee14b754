// EXPERIMENT: The last warp without barriers, through a volatile pointer: once a well-known trick.
// RUN: ./ch03 --device emulator --kernel $PTX
// SHOWS: RACE
#include "warpbook.cuh"

LAUNCH(sum_tree) {
    launch->block = 64;
    launch->grid = max(1, min(ceil_div(n, 64), 8 * gpu->sm_count));
}

__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    float *tree = scratch + blockIdx.x * blockDim.x;
    tree[threadIdx.x] = sum;
    __syncthreads();
    // BEGIN tail
    if (threadIdx.x < 32) {
        volatile float *warp = tree;
        warp[threadIdx.x] += warp[threadIdx.x + 32];
        warp[threadIdx.x] += warp[threadIdx.x + 16];
        warp[threadIdx.x] += warp[threadIdx.x + 8];
        // END tail
        warp[threadIdx.x] += warp[threadIdx.x + 4];
        warp[threadIdx.x] += warp[threadIdx.x + 2];
        warp[threadIdx.x] += warp[threadIdx.x + 1];
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
    }
}
