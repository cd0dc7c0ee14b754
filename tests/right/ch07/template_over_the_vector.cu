// RIGHT: template-over-the-vector - a template over the type of the load, its size deduced
#include "warpbook.cuh"

template <typename Vector> __device__ float share(const float *in, int n, int thread, int threads) {
    constexpr int width = sizeof(Vector) / sizeof(float);
    int past = (size_t)in / sizeof(float) % width;
    int head = min((width - past) % width, n);
    int count = (n - head) / width;
    float sum = 0.0f;
    for (int i = thread; i < count; i += threads) {
        Vector vector = *(const Vector *)(in + head + width * i);
        const float *value = (const float *)&vector;
        for (int j = 0; j < width; j++) {
            sum += value[j];
        }
    }
    for (int i = thread; i < n; i += threads) {
        if (i < head || i >= head + width * count) {
            sum += in[i];
        }
    }
    return sum;
}

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
    sum = share<float4>(in, n, thread, threads);
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}
