// RIGHT: plain - every task by a loop over the grid
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

union Eight {
    uint4 all;
    __nv_bfloat162 pair[4];
};

LAUNCH(add_bf16) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 8 * 256), 8 * gpu->sm_count));
}

__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    const Eight *a8 = (const Eight *)a;
    const Eight *b8 = (const Eight *)b;
    Eight *c8 = (Eight *)c;
    int groups = n / 8;
    for (int i = thread; i < groups; i += threads) {
        Eight x, y, sum;
        x.all = a8[i].all;
        y.all = b8[i].all;
        for (int k = 0; k < 4; k++) {
            sum.pair[k] = __hadd2(x.pair[k], y.pair[k]);
        }
        c8[i].all = sum.all;
    }
    int last = 8 * groups + thread;
    if (last < n) {
        c[last] = __hadd(a[last], b[last]);
    }
}
