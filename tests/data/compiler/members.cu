#include "warpbook.cuh"

LAUNCH(k0) {
    launch->block = min(gpu->threads_per_sm, 256);  // ERROR: gpu has the parts sm_count, max_threads_per_sm, max_threads_per_block, max_blocks_per_sm, registers_per_sm, shared_per_sm, shared_per_block and warp_size
    launch->grid = gpu->sms;  // ERROR: gpu has the parts sm_count, max_threads_per_sm, max_threads_per_block, max_blocks_per_sm, registers_per_sm, shared_per_sm, shared_per_block and warp_size
}

__global__ void k0(const float *in, float *out, int n) {
    __shared__ float tile[32][32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 four = in[4 * i];  // ERROR: cast the pointer, not the element: ((const float4 *)in)[...], whose index counts float4s
    float2 two = out[i + 1];  // ERROR: cast the pointer, not the element: ((const float2 *)out)[...], whose index counts float2s
    tile[threadIdx.y][threadIdx.x] = four.x + two.x;
    __syncthreads();
    out[i] = tile[threadIdx.x, threadIdx.y];  // ERROR: write tile[threadIdx.x][threadIdx.y]: a comma in brackets drops what is before it
    tile[threadIdx.y, threadIdx.x] = 1.0f;  // ERROR: write tile[threadIdx.y][threadIdx.x]: a comma in brackets drops what is before it
    out[i] += tile[i, 0];  // ERROR: write tile[i][0]: a comma in brackets drops what is before it
}
