// RIGHT: butterfly-two-arrays - all threads work at every level, from one dynamic shared array to the other: one barrier a level
#include "warpbook.cuh"

// In a program of your own this launch reads: sum_tree<<<grid, 256>>>(in, scratch, partial, n)
LAUNCH(sum_tree) {
    launch->block = 256;
    launch->shared = 2 * 256 * sizeof(float);
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. scratch: one float for each thread of the grid, not initialised.
// partial: one float for each block, the sum of that block's share.
__global__ void sum_tree(const float *in, float *scratch, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }

    extern __shared__ float slots[];
    float *from = slots, *into = slots + blockDim.x;
    from[threadIdx.x] = sum;
    __syncthreads();

    for (int bit = 1; bit < blockDim.x; bit *= 2) {
        into[threadIdx.x] = from[threadIdx.x] + from[threadIdx.x ^ bit];
        __syncthreads();
        float *other = from;
        from = into;
        into = other;
    }

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = from[0];
    }
}
