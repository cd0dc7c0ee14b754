// VERDICT: OOB
// MISTAKE: tail-counted-from-the-end - the tail is counted back from n, and the first of them is n itself
// DIAGNOSIS: one-past-the-end
#include <cuda_bf16.h>

#include "warpbook.cuh"

// First with one float a load: add<<<grid, block>>>(a, b, c, n)
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

__device__ bool takes_two(long long n) {
    // With half the bytes a kernel is over sooner, and in the middle of the scale it pays to have two groups on
    // their way in each thread: less time goes by until everything has been asked for. Shorter vectors would leave
    // SMs without work, and longer ones keep the memory busy anyway. Measured.
    return n > 1 << 20 && n <= 1 << 24;
}

// Adds COUNT groups of 16 bytes in each thread, as far as there are so many. Nobody reads the sums soon:
// __stcs stores what may leave the caches first.
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

// Then with four: add_float4<<<(n + 4095) / 4096, 1024>>>(a, b, c, n)
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
    if (thread < n % 4) {
        int last = n - thread;
        c[last] = a[last] + b[last];
    }
}

// At last with eight: add_bf16<<<grid, block>>>(a, b, c, n)
LAUNCH(add_bf16) {
    launch->block = takes_two(n) ? 512 : 1024;
    launch->grid = max(1, ceil_div(n, 8 * 1024)); // either way
}

// a, b: n bfloat16 to add. c: n bfloat16, each sum rounded once.
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
