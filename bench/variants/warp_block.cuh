// What the sums of this folder share: how a block brings its threads' sums together.
#pragma once

__device__ inline float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

// The sum over a block of whole warps; thread 0 receives it.
__device__ inline float sum_of_block(float value) {
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

__device__ inline void leave_sum(float sum, float *partial) {
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__device__ inline float sum_of(float value) { return value; }
__device__ inline float sum_of(float2 pair) { return pair.x + pair.y; }
__device__ inline float sum_of(float4 four) { return (four.x + four.y) + (four.z + four.w); }

// 1.0f and 0.0f that the compiler does not know, so that arithmetic with them stays.
__device__ inline float one_of(int n) { return n >= 0 ? 1.0f : 2.0f; }
__device__ inline float zero_of(int n) { return n >= 0 ? 0.0f : 1.0f; }
