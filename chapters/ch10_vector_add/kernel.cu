// Chapter 10: c = a + b, three times.
//
// Adding two vectors is as little arithmetic as a kernel can do: twelve bytes must move for every addition,
// so only the speed of memory matters. You can choose the launch shape, the width of loads and stores, and
// the width of a number: bfloat16 has the range of a float in half the bytes.
//
// The three arrays begin at multiples of 256 bytes, as cudaMalloc gives them; n is any number.
#include <cuda_bf16.h>

#include "warpbook.cuh"

// First with one float per load: add<<<grid, block>>>(a, b, c, n)
LAUNCH(add) {
    // TODO 1: a block size of which a whole number fills an SM, and as many blocks as the GPU holds at a time
    //         (chapter 6). Fewer if n needs fewer, but at least 1.
    launch->block = 32;
    launch->grid = max(1, ceil_div(n, 32));
}

// a, b: n floats to add. c: n floats, their sums.
__global__ void add(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 2: with that many threads each has more than one element: continue in steps of the whole grid.
    if (thread < n) {
        c[thread] = a[thread] + b[thread];
    }
}

// Eight bfloat16: 16 bytes, which are loaded and stored as `all` and added as pairs.
union Eight {
    uint4 all;
    __nv_bfloat162 pair[4];
};

// The sums of four floats, or of eight bfloat16 in 16 bytes.
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

// Then with four: add_float4<<<ceil_div(n, 4 * block), block>>>(a, b, c, n)
LAUNCH(add_float4) {
    int block = n > 1 << 22 && n <= 1 << 24 ? 256 : 1024; // measured
    launch->block = block;
    launch->grid = max(1, ceil_div(n, 4 * block));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 3: load, add and store groups of four, which `sum_of` adds, and give each of the 0 to 3 floats after
    //         them to a different thread.
    int threads = gridDim.x * blockDim.x;
    for (int i = thread; i < n; i += threads) {
        c[i] = a[i] + b[i];
    }
}

// At last with eight: add_bf16<<<grid, block>>>(a, b, c, n)
LAUNCH(add_bf16) {
    launch->block = 1024;
    launch->grid = max(1, ceil_div(n, 8 * 1024));
}

// a, b: n bfloat16 to add. c: n bfloat16, each sum rounded once.
__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 4: the same with groups of eight as a uint4 each. __hadd adds single ones; up to 7 are left at the
    //         end.
    int threads = gridDim.x * blockDim.x;
    for (int i = thread; i < n; i += threads) {
        c[i] = __hadd(a[i], b[i]);
    }
}
