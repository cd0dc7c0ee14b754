// Adds in shared memory that ptxas makes a loop of compare-and-swap: lanes and warps that want one word turn until
// each has won.
#include "patterns.h"

#define LOOP(name, type, words, ...) \
    K(cas_##name) { \
        __shared__ type s[words]; \
        for (int k = T; k < words; k += blockDim.x) s[k] = 0; \
        __syncthreads(); \
        __VA_ARGS__; \
        __syncthreads(); \
        out[I] = (float)s[T % words]; \
    }

LOOP(f32_same_b32, float, 1, atomicAdd(&s[0], in[I] + 1))
LOOP(f32_same_b64, float, 1, atomicAdd(&s[0], in[I] + 1))
LOOP(f32_same_b256, float, 1, atomicAdd(&s[0], in[I] + 1))
LOOP(f32_of_8_b32, float, 8, atomicAdd(&s[L % 8], in[I] + 1))
LOOP(f32_of_8_in_rows_b32, float, 8, atomicAdd(&s[L / 4], in[I] + 1))
LOOP(f32_one_bank_b32, float, 1024, atomicAdd(&s[L * 32], in[I] + 1))
LOOP(f32_two_of_a_bank_b32, float, 64, atomicAdd(&s[L % 2 * 32], in[I] + 1))
LOOP(f32_by_lane_b64, float, 32, atomicAdd(&s[L], in[I] + 1))
LOOP(f32_by_lane_b256, float, 32, atomicAdd(&s[L], in[I] + 1))
LOOP(f32_by_lane_b1024, float, 32, atomicAdd(&s[L], in[I] + 1))
LOOP(f32_by_lane_of_8_b128, float, 8, atomicAdd(&s[L % 8], in[I] + 1))
LOOP(f32_twice_b128, float, 32, atomicAdd(&s[L], in[I] + 1); atomicAdd(&s[L], in[I] + 2))
LOOP(f32_rounds_b128, float, 32, for (int k = 0; k < 4; k++) atomicAdd(&s[(L + k) % 32], in[I] + k + 1))
LOOP(f32_some_b32, float, 5, if (L < 20) atomicAdd(&s[L % 5], in[I] + 1))
LOOP(f32_result_b32, float, 8, out[n + I] = atomicAdd(&s[L % 8], in[I] + 1))
LOOP(f32_result_b128, float, 32, out[n + I] = atomicAdd(&s[L], in[I] + 1))
LOOP(f32_bins_b32, float, 16, atomicAdd(&s[h(I) % 16], in[I] + 1))
LOOP(f32_bins_b256, float, 64, atomicAdd(&s[h(I) % 64], in[I] + 1))
LOOP(f32_zero_b128, float, 32, atomicAdd(&s[L], 0.0f * in[I]))
LOOP(f64_same_b32, double, 1, atomicAdd(&s[0], in[I] + 1.0))
LOOP(f64_by_lane_b128, double, 32, atomicAdd(&s[L], in[I] + 1.0))
LOOP(u64_by_lane_b128, unsigned long long, 32, atomicAdd(&s[L], (unsigned long long)in[I] + 1))
LOOP(u64_of_8_b32, unsigned long long, 8, atomicAdd(&s[L % 8], (unsigned long long)in[I] + 1))
