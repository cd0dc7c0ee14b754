// Sums by a grid-stride loop: scalar and vector loads, several of them in a row before the first addition.
//
// in: n floats, n a multiple of what a block takes in one step. partial: one float for each block.
#include "warp_block.cuh"

// UNROLL loads of Vector per thread and step; all loads of a step come before the first addition.
template <typename Vector, int UNROLL> __device__ void sum_strided(const float *in, float *partial, int n) {
    const Vector *vector = (const Vector *)in;
    int count = n / (sizeof(Vector) / sizeof(float));
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
#pragma unroll 1
    for (long long first = thread; first < count; first += (long long)UNROLL * threads) {
        Vector value[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            long long i = first + (long long)k * threads;
            value[k] = i < count ? vector[i] : Vector{};
        }
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            sum += sum_of(value[k]);
        }
    }
    leave_sum(sum, partial);
}

#define SUM(name, Vector, unroll)                                                                            \
    extern "C" __global__ void name(const float *in, float *partial, int n) {                                \
        sum_strided<Vector, unroll>(in, partial, n);                                                         \
    }

SUM(sum_float_1, float, 1)
SUM(sum_float_2, float, 2)
SUM(sum_float_4, float, 4)
SUM(sum_float_8, float, 8)
SUM(sum_float2_1, float2, 1)
SUM(sum_float4_1, float4, 1)
SUM(sum_float4_2, float4, 2)
SUM(sum_float4_4, float4, 4)
SUM(sum_float4_8, float4, 8)

// The plainest loop, left to the compiler.
extern "C" __global__ void sum_plain(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    leave_sum(sum, partial);
}

// Four accumulators and four contiguous float4 per thread in the block's own tile: the capstone's loop.
extern "C" __global__ void __launch_bounds__(512) sum_tiles(const float *in, float *partial, int n) {
    const float4 *vector = (const float4 *)in;
    const int tile = 4 * 512;
    int tiles = (n / 4 + tile - 1) / tile;
    float4 sum = {};
    for (int at = blockIdx.x; at < tiles; at += gridDim.x) {
        float4 value[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int i = at * tile + k * 512 + threadIdx.x;
            value[k] = i < n / 4 ? __ldcs(vector + i) : float4{};
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum.x += value[k].x;
            sum.y += value[k].y;
            sum.z += value[k].z;
            sum.w += value[k].w;
        }
    }
    leave_sum(sum_of(sum), partial);
}

// The same with the fold of the partial sums by the block that comes last. `ticket` is 0 before and after.
extern "C" __global__ void __launch_bounds__(512)
    sum_one_launch(const float *in, float *out, float *partial, unsigned *ticket, int n) {
    __shared__ bool is_last;
    const float4 *vector = (const float4 *)in;
    const int tile = 4 * 512;
    int tiles = (n / 4 + tile - 1) / tile;
    float4 four = {};
    for (int at = blockIdx.x; at < tiles; at += gridDim.x) {
        float4 value[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            int i = at * tile + k * 512 + threadIdx.x;
            value[k] = i < n / 4 ? __ldcs(vector + i) : float4{};
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            four.x += value[k].x;
            four.y += value[k].y;
            four.z += value[k].z;
            four.w += value[k].w;
        }
    }
    float sum = sum_of_block(sum_of(four));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) {
        return;
    }
    __threadfence();
    sum = 0.0f;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
        sum += __ldcg(partial + i);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        out[0] = sum;
        *ticket = 0;
    }
}

// One block for every blockDim.x * EACH elements: blocks come and go.
template <typename Vector, int EACH> __device__ void sum_covering(const float *in, float *partial, int n) {
    const Vector *vector = (const Vector *)in;
    int count = n / (sizeof(Vector) / sizeof(float));
    Vector value[EACH];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int i = (blockIdx.x * EACH + k) * blockDim.x + threadIdx.x;
        value[k] = i < count ? vector[i] : Vector{};
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        sum += sum_of(value[k]);
    }
    leave_sum(sum, partial);
}
extern "C" __global__ void sum_cover_float(const float *in, float *partial, int n) {
    sum_covering<float, 1>(in, partial, n);
}
extern "C" __global__ void sum_cover_float4_4(const float *in, float *partial, int n) {
    sum_covering<float4, 4>(in, partial, n);
}
