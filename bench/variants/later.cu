// Kernels that were written and recorded after the time model was fitted, one or two of each kind of work.
#include "warp_block.cuh"

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS (gridDim.x * blockDim.x)

// partial: one float a block.
extern "C" __global__ void later_sum_pairs(const float2 *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = THREAD; i < n / 2; i += THREADS) {
        sum += sum_of(in[i]);
    }
    leave_sum(sum, partial);
}
// Six float4 on their way, in a loop over the blocks' own parts.
extern "C" __global__ void later_sum_six(const float4 *in, float *partial, int n) {
    float sum = 0.0f;
    int count = n / 4;
#pragma unroll 1
    for (int i = THREAD; i < count; i += 6 * THREADS) {
        float4 part[6];
#pragma unroll
        for (int k = 0; k < 6; k++) {
            int at = i + k * THREADS;
            part[k] = at < count ? in[at] : float4{};
        }
#pragma unroll
        for (int k = 0; k < 6; k++) {
            sum += sum_of(part[k]);
        }
    }
    leave_sum(sum, partial);
}
// A polynomial of degree 12 of each element, by Horner's rule, of which 0 is added to the element.
extern "C" __global__ void later_horner(const float *in, float *partial, int n) {
    float zero = zero_of(n), one = one_of(n), sum = 0.0f;
#pragma unroll 1
    for (int i = THREAD; i < n; i += THREADS) {
        float value = in[i], power = one;
#pragma unroll
        for (int k = 1; k <= 12; k++) {
            power = fmaf(power, value * 0.125f, one * (float)k);
        }
        sum += fmaf(power, zero, value);
    }
    leave_sum(sum, partial);
}
// Even and odd warps do different work: no warp diverges.
extern "C" __global__ void later_warps_apart(const float *in, float *partial, int n) {
    float zero = zero_of(n), one = one_of(n), sum = 0.0f;
#pragma unroll 1
    for (int i = THREAD; i < n; i += THREADS) {
        float value = in[i], made = value;
        if (threadIdx.x / 32 % 2) {
#pragma unroll
            for (int k = 0; k < 24; k++) {
                made = fmaf(made, one, zero);
            }
        } else {
            made = sqrtf(fabsf(made));
        }
        sum += fmaf(made, zero, value);
    }
    leave_sum(sum, partial);
}
// Every fourth lane of a warp adds the part of its four lanes to one of eight words.
extern "C" __global__ void later_atomics_8_words(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = THREAD; i < n; i += THREADS) {
        sum += in[i];
    }
    sum += __shfl_down_sync(0xffffffff, sum, 2);
    sum += __shfl_down_sync(0xffffffff, sum, 1);
    if (threadIdx.x % 4 == 0) {
        atomicAdd(out + threadIdx.x / 4 % 8, sum);
    }
}

// 256 counters that add up to n.
extern "C" __global__ void later_bins_4_copies(const float *in, unsigned *bins, int n) {
    __shared__ unsigned count[4][256];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) (&count[0][0])[k] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = THREAD; i < n; i += THREADS) {
        atomicAdd(&count[threadIdx.x % 4][(int)(in[i] + 15.0f) / 2 * 16 + threadIdx.x % 16], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x],
              count[0][threadIdx.x] + count[1][threadIdx.x] + count[2][threadIdx.x] + count[3][threadIdx.x]);
}
// Runs of equal values are counted by a warp at a time, straight in memory.
extern "C" __global__ void later_bins_matched(const float *in, unsigned *bins, int n) {
    int steps = (n + THREADS - 1) / THREADS;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = step * THREADS + THREAD;
        int bin = i < n ? (int)(in[i] + 15.0f) / 2 + 16 * (i / 32 % 16) : -1;
        unsigned same = __match_any_sync(0xffffffff, bin);
        if (bin >= 0 && threadIdx.x % 32 == __ffs(same) - 1) {
            atomicAdd(&bins[bin], (unsigned)__popc(same));
        }
    }
}

// out: n floats.
extern "C" __global__ void later_copy_two(const float4 *in, float4 *out, int n) {
    int i = 2 * blockDim.x * blockIdx.x + threadIdx.x;
    float4 first{}, second{};
    if (i < n / 4) first = in[i];
    if (i + (int)blockDim.x < n / 4) second = in[i + blockDim.x];
    if (i < n / 4) out[i] = first;
    if (i + (int)blockDim.x < n / 4) out[i + blockDim.x] = second;
}
// Each thread copies floats that are 4 apart: four passes over the same lines.
extern "C" __global__ void later_copy_apart(const float *in, float *out, int n) {
    int first = 4 * (THREAD - threadIdx.x % 32) + threadIdx.x % 32 * 4;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (first + k < n) out[first + k] = in[first + k];
    }
}
extern "C" __global__ void later_add_pairs(const float2 *a, const float2 *b, float2 *out, int n) {
    int i = THREAD;
    if (i < n / 2) {
        float2 x = a[i], y = b[i];
        out[i] = {x.x + y.x, x.y + y.y};
    }
}
// rows: 2048 floats each, a warp a row, float4.
extern "C" __global__ void later_rows_float4(const float4 *in, float *out, int rows) {
    int row = THREAD / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = lane; i < 512; i += 32) {
        sum += sum_of(in[(long long)row * 512 + i]);
    }
    sum = sum_of_warp(sum);
    if (lane == 0) out[row] = sum;
}
// A transpose through a tile of 32 x 32, whose columns are rotated instead of padded.
extern "C" __global__ void later_turn_rotated(const float *in, float *out, int side) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        if (x < side && y + k < side) tile[k][(threadIdx.x + k) % 32] = in[(long long)(y + k) * side + x];
    }
    __syncthreads();
    int column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        if (column < side && row + k < side) {
            out[(long long)(row + k) * side + column] = tile[threadIdx.x][(k + threadIdx.x) % 32];
        }
    }
}
