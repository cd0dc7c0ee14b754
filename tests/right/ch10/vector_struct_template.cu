// RIGHT: vector-struct-template - one template over a 16-byte vector of any element, in blocks of 512, two vectors a thread
#include <cuda_bf16.h>

#include "warpbook.cuh"

// First with one float per load: add<<<grid, block>>>(a, b, c, n)
LAUNCH(add) {
    launch->block = 256;
    int per_sm = min(gpu->max_threads_per_sm / 256, gpu->max_blocks_per_sm);
    launch->grid = max(1, min(ceil_div(n, 256), per_sm * gpu->sm_count));
}

// a, b: n floats to add. c: n floats, their sums.
__global__ void add(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        c[i] = a[i] + b[i];
    }
}

__device__ inline float plus(float x, float y) { return x + y; }
__device__ inline __nv_bfloat162 plus(__nv_bfloat162 x, __nv_bfloat162 y) { return __hadd2(x, y); }

// 16 bytes of elements, loaded and stored as one.
template <typename Element> struct Pack {
    static constexpr int COUNT = 16 / sizeof(Element);
    uint4 bits;

    __device__ friend Pack operator+(Pack x, Pack y) {
        Element a[COUNT], b[COUNT];
        memcpy(a, &x.bits, 16);
        memcpy(b, &y.bits, 16);
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            a[k] = plus(a[k], b[k]);
        }
        Pack z;
        memcpy(&z.bits, a, 16);
        return z;
    }
};

// Two packs in each thread, a block apart, both of them loaded before the first is added.
template <typename Element, typename Number>
__device__ void add_packs(const Number *a, const Number *b, Number *c, unsigned packs) {
    const uint4 *x = reinterpret_cast<const uint4 *>(a);
    const uint4 *y = reinterpret_cast<const uint4 *>(b);
    uint4 *z = reinterpret_cast<uint4 *>(c);
    using P = Pack<Element>;
    const unsigned i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned j = i + blockDim.x;
    if (j < packs) {
        const P xi{x[i]}, yi{y[i]}, xj{x[j]}, yj{y[j]};
        z[i] = (xi + yi).bits;
        z[j] = (xj + yj).bits;
    } else if (i < packs) {
        z[i] = (P{x[i]} + P{y[i]}).bits;
    }
}

// Then with four: add_float4<<<ceil_div(n, 4 * block), block>>>(a, b, c, n)
LAUNCH(add_float4) {
    launch->block = 512;
    launch->grid = max(1, ceil_div(n, 2 * 4 * 512));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned packs = n / 4;
    add_packs<float>(a, b, c, packs);
    const unsigned last = 4 * packs + thread;
    if (last < n) {
        c[last] = a[last] + b[last];
    }
}

// At last with eight: add_bf16<<<grid, block>>>(a, b, c, n)
LAUNCH(add_bf16) {
    launch->block = 512;
    launch->grid = max(1, ceil_div(n, 2 * 8 * 512));
}

// a, b: n bfloat16 to add. c: n bfloat16, each sum rounded once.
__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned packs = n / 8;
    add_packs<__nv_bfloat162>(a, b, c, packs);
    const unsigned last = 8 * packs + thread;
    if (last < n) {
        c[last] = __hadd(a[last], b[last]);
    }
}
