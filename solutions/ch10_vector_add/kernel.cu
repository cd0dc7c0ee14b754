// SKELETON VERDICT: SLOW
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
    // BEGIN SOLUTION
    // TODO 1: a block size of which a whole number fills an SM, and as many blocks as the GPU holds at a time
    //         (chapter 6). Fewer if n needs fewer, but at least 1.
    // SKELETON: launch->block = 32;
    // SKELETON: launch->grid = max(1, ceil_div(n, 32));
    launch->block = 256;
    int per_sm = min(gpu->max_threads_per_sm / 256, gpu->max_blocks_per_sm);
    launch->grid = max(1, min(ceil_div(n, 256), per_sm * gpu->sm_count));
    // END SOLUTION
}

// a, b: n floats to add. c: n floats, their sums.
__global__ void add(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    // TODO 2: with that many threads each has more than one element: continue in steps of the whole grid.
    // SKELETON: if (thread < n) {
    // SKELETON:     c[thread] = a[thread] + b[thread];
    // SKELETON: }
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        c[i] = a[i] + b[i];
    }
    // END SOLUTION
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

// BEGIN SOLUTION
__device__ bool takes_two(long long n) {
    // With half the bytes a kernel finishes sooner, and for medium sizes two groups in flight per thread are
    // faster, because everything is requested earlier. For shorter vectors they would leave SMs without work,
    // and longer ones keep the memory busy anyway. These choices were measured.
    return n > 1 << 20 && n <= 1 << 25;
}

// Adds COUNT groups of 16 bytes in each thread, or fewer at the end.
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
            if (COUNT > 1) {
                __stcs(&c[i], sum_of(x[k], y[k])); // no thread reads it again
            } else {
                c[i] = sum_of(x[k], y[k]);
            }
        }
    }
}

// END SOLUTION
// Then with four: add_float4<<<ceil_div(n, 4 * block), block>>>(a, b, c, n)
LAUNCH(add_float4) {
    int block = n > 1 << 22 && n <= 1 << 24 ? 256 : 1024; // measured
    launch->block = block;
    launch->grid = max(1, ceil_div(n, 4 * block));
}

__global__ void add_float4(const float *a, const float *b, float *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    // TODO 3: load, add and store groups of four, which `sum_of` adds, and give each of the 0 to 3 floats after
    //         them to a different thread.
    // SKELETON: int threads = gridDim.x * blockDim.x;
    // SKELETON: for (int i = thread; i < n; i += threads) {
    // SKELETON:     c[i] = a[i] + b[i];
    // SKELETON: }
    const float4 *a4 = (const float4 *)a;
    const float4 *b4 = (const float4 *)b;
    float4 *c4 = (float4 *)c;
    int groups = n / 4;
    add_groups<1>(a4, b4, c4, groups);
    int last = 4 * groups + thread;
    if (last < n) {
        c[last] = a[last] + b[last];
    }
    // END SOLUTION
}

// At last with eight: add_bf16<<<grid, block>>>(a, b, c, n)
LAUNCH(add_bf16) {
    // BEGIN SOLUTION
    // SKELETON: launch->block = 1024;
    // SKELETON: launch->grid = max(1, ceil_div(n, 8 * 1024));
    int block = !takes_two(n) ? 1024 : n <= 1 << 22 ? 512 : 128; // measured
    launch->block = block;
    launch->grid = max(1, ceil_div(n, 8 * block * (takes_two(n) ? 2 : 1)));
    // END SOLUTION
}

// a, b: n bfloat16 to add. c: n bfloat16, each sum rounded once.
__global__ void add_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    // TODO 4: the same with groups of eight as a uint4 each. __hadd adds single ones; up to 7 are left at the
    //         end.
    // SKELETON: int threads = gridDim.x * blockDim.x;
    // SKELETON: for (int i = thread; i < n; i += threads) {
    // SKELETON:     c[i] = __hadd(a[i], b[i]);
    // SKELETON: }
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
    // END SOLUTION
}
