// RIGHT: lambda-round-robin - 64-bit indices with a sign, eight float4 under way by a lambda, volatile letters
#include "warpbook.cuh"

namespace {
constexpr int BLOCK = 256, DEEP = 8, WARPS = BLOCK / 32;

__device__ float fold_warp(float v) {
#pragma unroll
    for (int bit = 1; bit < 32; bit *= 2) {
        v += __shfl_xor_sync(0xffffffffu, v, bit);
    }
    return v;
}

// All threads receive the sum of the block.
__device__ float fold_block(float v) {
    __shared__ float of_warp[WARPS];
    v = fold_warp(v);
    __syncthreads(); // whoever read the slots of an earlier fold is done
    if (threadIdx.x % 32 == 0) {
        of_warp[threadIdx.x / 32] = v;
    }
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        sum += of_warp[w];
    }
    return sum;
}

__device__ float across(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__device__ float share(const float *in, long long n) {
    const long long misfit = (long long)((unsigned long long)in % 16 / 4);
    const long long head = misfit == 0 ? 0 : min(n, 4 - misfit);
    const long long groups = (n - head) / 4;
    const float4 *const group = reinterpret_cast<const float4 *>(in + head);
    const long long stride = (long long)gridDim.x * (BLOCK * DEEP);
    float sum[DEEP] = {};

    auto round = [&](long long at, auto is_there) {
        float4 four[DEEP];
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            four[k] = is_there(at + k * BLOCK) ? __ldcs(group + at + k * BLOCK) : float4{0.0f, 0.0f, 0.0f, 0.0f};
        }
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            sum[k] += across(four[k]);
        }
    };
    long long begin = (long long)blockIdx.x * (BLOCK * DEEP);
    for (; begin + BLOCK * DEEP <= groups; begin += stride) {
        round(begin + threadIdx.x, [](long long) { return true; });
    }
    if (begin < groups) {
        round(begin + threadIdx.x, [=](long long i) { return i < groups; });
    }
    if (blockIdx.x == 0) { // the ends
        if (threadIdx.x < head) {
            sum[0] += in[threadIdx.x];
        }
        const long long behind = head + 4 * groups + threadIdx.x;
        if (behind < n) {
            sum[1] += in[behind];
        }
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}
} // namespace

LAUNCH(sum) {
    launch->block = BLOCK;
    launch->grid = max(1, min(ceil_div(n, 4 * DEEP * BLOCK), 8 * gpu->sm_count));
}

// in: n floats. out: one float, their sum. mailbox: 64 bits for each block, all 0 before the launch and after it. A
// letter holds a sum in its upper half and a 1 below, and is written and read as a whole.
__global__ void __launch_bounds__(BLOCK, 4) sum(const float *in, float *out, unsigned long long *mailbox, size_t n) {
    volatile unsigned long long *const letter_of = mailbox;
    const float own = fold_block(share(in, (long long)n));
    if (blockIdx.x + 1 < gridDim.x) {
        if (threadIdx.x == 0) {
            letter_of[blockIdx.x] = (unsigned long long)__float_as_uint(own) << 32 | 1u;
        }
        return;
    }
    float total = threadIdx.x == 0 ? own : 0.0f;
    for (unsigned i = threadIdx.x; i + 1 < gridDim.x; i += BLOCK) {
        unsigned long long letter = letter_of[i];
        while ((letter & 1u) == 0) {
            __nanosleep(20);
            letter = letter_of[i];
        }
        letter_of[i] = 0;
        total += __uint_as_float((unsigned)(letter >> 32));
    }
    total = fold_block(total);
    if (threadIdx.x == 0) {
        out[0] = total;
    }
}
