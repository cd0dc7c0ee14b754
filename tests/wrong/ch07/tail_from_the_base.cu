// VERDICT: WRONG
// MISTAKE: tail-from-the-base - the tail begins as if there were no head
// DIAGNOSIS: tail-without-the-head
#include "warpbook.cuh"

LAUNCH(sum_float4) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 4 * 256), 4 * gpu->sm_count));
}

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

__global__ void sum_float4(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    int past = (size_t)in / 4 % 4;
    int head = min((4 - past) % 4, n);
    int groups = (n - head) / 4;
    int tail = head + 4 * groups;

    const float4 *group = (const float4 *)(in + head);
    for (int i = thread; i < groups; i += threads) {
        float4 four = group[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    if (thread < head) {
        sum += in[thread];
    }
    if (thread < n - tail) {
        sum += in[4 * groups + thread];
    }

    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
