// VERDICT: SLOW
// MISTAKE: stretch-between-sectors - the stretches of the blocks are no multiples of 8 floats, so that requests begin between sectors
// DIAGNOSIS: requests-between-sectors
#include <cuda_bf16.h>

#include "warpbook.cuh"

LAUNCH(add) {
    int fit = min(gpu->max_threads_per_sm / 256, gpu->max_blocks_per_sm);
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), fit * gpu->sm_count));
}

// Each block has a stretch of its own, which its threads walk along side by side.
__global__ void add(const float *a, const float *b, float *c, int n) {
    int block = blockIdx.x;
    int blocks = gridDim.x;
    int stretch = n / blocks + (n % blocks != 0);
    int begin = block * stretch;
    int end = min(begin + stretch, n);
    int step = blockDim.x;
    for (int i = begin + threadIdx.x; i < end; i += step) {
        c[i] = a[i] + b[i];
    }
}

union Eight {
    uint4 all;
    __nv_bfloat162 pair[4];
};

__device__ float4 sum_of(float4 x, float4 y) {
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
__device__ uint4 sum_of(uint4 x, uint4 y) {
    Eight a, b;
    a.all = x;
    b.all = y;
    for (int k = 0; k < 4; k++) {
        a.pair[k] = __hadd2(a.pair[k], b.pair[k]);
    }
    return a.all;
}

LAUNCH(add_float4) {
    int block = n > 1 << 22 && n <= 1 << 24 ? 256 : 1024;
    launch->block = block;
    launch->grid = max(1, ceil_div(n, 4 * block));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int groups = n / 4;
    if (thread < groups) {
        float4 x = ((const float4 *)a)[thread];
        float4 y = ((const float4 *)b)[thread];
        ((float4 *)c)[thread] = sum_of(x, y);
    }
    int rest = n % 4;
    if (thread < rest) {
        int i = n - rest + thread;
        c[i] = a[i] + b[i];
    }
}

LAUNCH(add_bf16) {
    launch->block = 1024;
    launch->grid = max(1, ceil_div(n, 8 * 1024));
}

__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int groups = n >> 3;
    if (thread < groups) {
        uint4 x = ((const uint4 *)a)[thread];
        uint4 y = ((const uint4 *)b)[thread];
        ((uint4 *)c)[thread] = sum_of(x, y);
    }
    int i = 8 * groups + thread;
    if (i < n) {
        c[i] = __hadd(a[i], b[i]);
    }
}
