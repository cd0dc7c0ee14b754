// VERDICT: OOB
// MISTAKE: as-many-partials-as-threads - reads a partial for each thread, however many there are
// DIAGNOSIS: no-bound
#include "warpbook.cuh"

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__device__ float sum_of_block(float value) {
    __shared__ float sum_of[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    value = sum_of_warp(value);
    if (lane == 0) {
        sum_of[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0f);
    }
    return value;
}

__device__ float sum_of_share(const float *in, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    return sum;
}

LAUNCH(sum_atomic) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_atomic(const float *in, float *out, int n) {
    float sum = sum_of_block(sum_of_share(in, n));

    if (threadIdx.x == 0) {
        atomicAdd(out, sum);
    }
}

LAUNCH(sum_blocks) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_blocks(const float *in, float *partial, int n) {
    float sum = sum_of_block(sum_of_share(in, n));

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

LAUNCH(sum_partials) {
    launch->block = 1024;
    launch->grid = 1;
}

__global__ void sum_partials(const float *partial, float *out, int count) {
    float sum = sum_of_block(sum_of_share(partial, blockDim.x));
    if (threadIdx.x == 0) {
        out[0] = sum;
    }
}
