// RIGHT: b-plus-a - the operands the other way round, and a double minus
#include <cuda_bf16.h>

#include "warpbook.cuh"

LAUNCH(add) {
    launch->block = 256;
    int per_sm = min(gpu->max_threads_per_sm / 256, gpu->max_blocks_per_sm);
    launch->grid = max(1, min(ceil_div(n, 256), per_sm * gpu->sm_count));
}

__global__ void add(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        c[i] = b[i] - -a[i];
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

__device__ bool takes_two(long long n) {
    return n > 1 << 20 && n <= 1 << 24;
}

template <int COUNT, typename Group>
__device__ void add_groups(const Group *a, const Group *b, Group *c, int groups) {
    int first = blockIdx.x * COUNT * blockDim.x + threadIdx.x;
    Group x[COUNT], y[COUNT];
    for (int k = 0; k < COUNT; k++) {
        int i = first + k * blockDim.x;
        if (i < groups) {
            x[k] = a[i];
            y[k] = b[i];
        }
    }
    for (int k = 0; k < COUNT; k++) {
        int i = first + k * blockDim.x;
        if (i < groups) {
            __stcs(&c[i], sum_of(x[k], y[k]));
        }
    }
}

LAUNCH(add_float4) {
    launch->block = 1024;
    launch->grid = max(1, ceil_div(n, 4 * 1024));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 *a4 = (const float4 *)a;
    const float4 *b4 = (const float4 *)b;
    float4 *c4 = (float4 *)c;
    int groups = n / 4;
    add_groups<1>(a4, b4, c4, groups);
    int last = 4 * groups + thread;
    if (last < n) {
        c[last] = a[last] + b[last];
    }
}

LAUNCH(add_bf16) {
    launch->block = takes_two(n) ? 512 : 1024;
    launch->grid = max(1, ceil_div(n, 8 * 1024));
}

__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 *a8 = (const uint4 *)a;
    const uint4 *b8 = (const uint4 *)b;
    uint4 *c8 = (uint4 *)c;
    int groups = n / 8;
    if (takes_two(n)) {
        add_groups<2>(a8, b8, c8, groups);
    } else {
        add_groups<1>(a8, b8, c8, groups);
    }
    int last = 8 * groups + thread;
    if (last < n) {
        c[last] = __hadd(a[last], b[last]);
    }
}
