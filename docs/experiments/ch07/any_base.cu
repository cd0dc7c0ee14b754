// EXPERIMENT: The array is read as float4 at any address.
// RUN: ./ch07 --device emulator --kernel $PTX
// SHOWS: MISALIGNED
#include "warpbook.cuh"

LAUNCH(sum_float4) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 1024), 4 * gpu->sm_count));
}

__global__ void sum_float4(const float *in, float *partial, int n) {
    __shared__ float total;
    if (threadIdx.x == 0) {
        total = 0.0f;
    }
    __syncthreads();
    const float4 *group = (const float4 *)in;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 v = group[i];
        atomicAdd(&total, v.x + v.y + v.z + v.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) {
        atomicAdd(&total, in[n - 1 - threadIdx.x]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
    }
}
