// VERDICT: OOB
// MISTAKE: groups-counted-in-floats - an index in floats into an array of float4
// DIAGNOSIS: group-counted-in-elements
#include <cuda_bf16.h>

#include "warpbook.cuh"

LAUNCH(add) {
    launch->block = 32;
    launch->grid = max(1, ceil_div(n, 32));
}

__global__ void add(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n) {
        c[thread] = a[thread] + b[thread];
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
    launch->block = 1024;
    launch->grid = max(1, ceil_div(n, 4 * 1024));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 *a4 = (const float4 *)a, *b4 = (const float4 *)b;
    float4 *c4 = (float4 *)c;
    int i = 4 * thread;
    if (i + 3 < n) {
        c4[i] = sum_of(a4[i], b4[i]);
    } else {
        for (; i < n; i++) {
            c[i] = a[i] + b[i];
        }
    }
}

LAUNCH(add_bf16) {
    launch->block = 1024;
    launch->grid = max(1, ceil_div(n, 8 * 1024));
}

__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    for (int i = thread; i < n; i += threads) {
        c[i] = __hadd(a[i], b[i]);
    }
}
