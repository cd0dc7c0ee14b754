// VERDICT: WRONG
// MISTAKE: odd-element-left-out - adds pairs of bfloat16: where n is odd, the last has no partner
// DIAGNOSIS: tail-dropped
#include <cuda_bf16.h>

#include "warpbook.cuh"

LAUNCH(add) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void add(const float *a, const float *b, float *c, int n) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        c[i] = a[i] + b[i];
    }
}

LAUNCH(add_float4) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 4 * 256), 8 * gpu->sm_count));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    const float4 *a4 = (const float4 *)a;
    const float4 *b4 = (const float4 *)b;
    float4 *c4 = (float4 *)c;
    int groups = n / 4;
    for (int i = thread; i < groups; i += threads) {
        float4 x = a4[i];
        float4 y = b4[i];
        c4[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    int last = 4 * groups + thread;
    if (last < n) {
        c[last] = a[last] + b[last];
    }
}

LAUNCH(add_bf16) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 512), 8 * gpu->sm_count));
}

__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int threads = gridDim.x * blockDim.x;
    const __nv_bfloat162 *a2 = (const __nv_bfloat162 *)a;
    const __nv_bfloat162 *b2 = (const __nv_bfloat162 *)b;
    __nv_bfloat162 *c2 = (__nv_bfloat162 *)c;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += threads) {
        c2[i] = __hadd2(a2[i], b2[i]);
    }
}
