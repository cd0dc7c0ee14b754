// EXPERIMENT: A block of one warp for each 32 elements.
// RUN: ./ch10 --device emulator --kernel $PTX
// SHOWS: SLOW
// SHOWS: 50 % of the places
#include <cuda_bf16.h>

#include "warpbook.cuh"

LAUNCH(add) {
    launch->block = 32;
    launch->grid = max(1, ceil_div(n, 32));
}

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

LAUNCH(add_float4) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

LAUNCH(add_bf16) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = __hadd(a[i], b[i]);
    }
}
