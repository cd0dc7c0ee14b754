// VERDICT: RACE
// MISTAKE: read-beside-an-atomic - the sum of a block is added by reading the total and exchanging it for the new one
// DIAGNOSIS: read-beside-an-atomic
#include "warpbook.cuh"

__device__ float lanes(float x) {
    for (int d = 1; d < 32; d *= 2) {
        x += __shfl_down_sync(0xffffffff, x, d);
    }
    return x;
}

// The sum of n floats over the grid: thread 0 of a block returns what the block has added.
__device__ float block_part(const float *in, int n) {
    __shared__ float slot[32];
    const int t = threadIdx.x;
    const int step = gridDim.x * blockDim.x;

    float x = 0.0f;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += step) {
        x += in[i];
    }
    x = lanes(x);
    if (t % 32 == 0) {
        slot[t / 32] = x;
    }
    __syncthreads();
    if (t < 32) {
        x = t < blockDim.x / 32 ? slot[t] : 0.0f;
        x = lanes(x);
    }
    return x;
}

LAUNCH(sum_atomic) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_atomic(const float *in, float *out, int n) {
    float x = block_part(in, n);
    if (threadIdx.x == 0) {
        atomicExch(out, *out + x);
    }
}

LAUNCH(sum_blocks) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_blocks(const float *in, float *partial, int n) {
    float x = block_part(in, n);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = x;
    }
}

LAUNCH(sum_partials) {
    launch->block = 1024;
    launch->grid = 1;
}

__global__ void sum_partials(const float *partial, float *out, int count) {
    float x = block_part(partial, count);
    if (threadIdx.x == 0) {
        *out = x;
    }
}
