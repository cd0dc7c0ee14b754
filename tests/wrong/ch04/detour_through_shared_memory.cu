// VERDICT: SLOW
// MISTAKE: detour-through-shared-memory - right, but through a tree in shared memory
// DIAGNOSIS: detour-through-memory
#include "warpbook.cuh"

LAUNCH(sum_shuffle) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shuffle(const float *in, float *partial, int n) {
    __shared__ float tree[256];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    int lane = threadIdx.x % 32;
    tree[threadIdx.x] = sum;
    __syncwarp();
    for (int stride = 16; stride > 0; stride /= 2) {
        if (lane < stride) {
            tree[threadIdx.x] += tree[threadIdx.x + stride];
        }
        __syncwarp();
    }
    if (lane == 0) {
        partial[thread / 32] = tree[threadIdx.x];
    }
}
