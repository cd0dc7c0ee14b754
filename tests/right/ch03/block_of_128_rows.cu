// RIGHT: block-of-128-rows - blocks of 16 x 8 threads, and a tree in shared memory in a struct with padding
#include "warpbook.cuh"

// In a program of your own this launch reads: sum_tree<<<grid, 256>>>(in, scratch, partial, n)
LAUNCH(sum_tree) {
    launch->block = dim3(16, 8);
    launch->grid = max(1, min(ceil_div(n, 128), gpu->max_threads_per_sm / 128 * gpu->sm_count));
}

// in: n floats. scratch: one float for each thread of the grid, not initialised.
// partial: one float for each block, the sum of that block's share.
__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int t = threadIdx.y * 16 + threadIdx.x;
    int thread = blockIdx.x * 128 + t;
    int threads = gridDim.x * 128;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }

    __shared__ struct {
        char name; // three bytes of padding follow
        float tree[128];
    } block;
    block.tree[t] = sum;
    __syncthreads();

    for (int stride = 64; stride > 1; stride >>= 1) {
        if (t < stride) {
            block.tree[t] += block.tree[t + stride];
        }
        __syncthreads();
    }

    if (t == 0) {
        partial[blockIdx.x] = block.tree[0] + block.tree[1];
    }
}
