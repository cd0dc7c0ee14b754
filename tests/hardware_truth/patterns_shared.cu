// Shared memory: strides, broadcasts and some lanes only, for accesses of 32, 64 and 128 bits. Every kernel stores
// with the index it names and loads with the same index of the neighbouring lane, so that both are counted.
#include "patterns.h"

// ---- Every stride from 1 to 33, in elements; one warp a block, or a stride would not fit ------------------------
#define STRIDES(F, name, V) \
    F(name, V, 1) F(name, V, 2) F(name, V, 3) F(name, V, 4) F(name, V, 5) F(name, V, 6) F(name, V, 7) F(name, V, 8) F(name, V, 9) \
    F(name, V, 10) F(name, V, 11) F(name, V, 12) F(name, V, 13) F(name, V, 14) F(name, V, 15) F(name, V, 16) F(name, V, 17) \
    F(name, V, 18) F(name, V, 19) F(name, V, 20) F(name, V, 21) F(name, V, 22) F(name, V, 23) F(name, V, 24) F(name, V, 25) \
    F(name, V, 26) F(name, V, 27) F(name, V, 28) F(name, V, 29) F(name, V, 30) F(name, V, 31) F(name, V, 32) F(name, V, 33)
#define STRIDE(name, V, stride) \
    K(name##_stride##stride##_b32) { \
        __shared__ V s[32 * stride]; \
        s[stride * T] = make<V>(in[I]); \
        __syncthreads(); \
        out[I] = sum(s[stride * (T ^ 1)]); \
    }
STRIDES(STRIDE, sh32, float)
STRIDES(STRIDE, sh64, float2)
STRIDES(STRIDE, sh128, float4)

// ---- Which element each lane takes: `t` is the lane -----------------------------------------------------------
#define INDEX(name, V, which, index) \
    K(name##_##which##_b32) { \
        __shared__ V s[1024]; \
        int t = T; \
        s[index] = make<V>(in[I]); \
        __syncthreads(); \
        t ^= 1; \
        out[I] = sum(s[index]); \
    }
#define INDICES(name, V) \
    INDEX(name, V, same, n >> 10) \
    INDEX(name, V, by2, t / 2) \
    INDEX(name, V, by4, t / 4) \
    INDEX(name, V, by8, t / 8) \
    INDEX(name, V, twins2, (t >> 2) * 2 + (t & 1)) \
    INDEX(name, V, twins4, (t >> 3) * 4 + (t & 3)) \
    INDEX(name, V, twins2_far, ((t >> 2) * 2 + (t & 1)) * 32) \
    INDEX(name, V, mod2, t & 1) \
    INDEX(name, V, mod4, t & 3) \
    INDEX(name, V, mod8, t & 7) \
    INDEX(name, V, mod16, t & 15) \
    INDEX(name, V, mod2_far, (t & 1) * 32) \
    INDEX(name, V, mod4_far, (t & 3) * 32) \
    INDEX(name, V, by16_far, (t >> 4) * 32) \
    INDEX(name, V, by8_far, (t >> 3) * 32) \
    INDEX(name, V, by4_far, (t >> 2) * 32) \
    INDEX(name, V, pairs_far, (t >> 1) * 32) \
    INDEX(name, V, rows_of_8, (t >> 3) * 40 + (t & 7)) \
    INDEX(name, V, diagonal, t * 16 % 512 + t / 2) \
    INDEX(name, V, xor_rows, (t >> 2) * 8 + ((t & 3) ^ (t >> 3))) \
    INDEX(name, V, scattered, h(t) & 511) \
    INDEX(name, V, scattered_few, h(t) & 63) \
    INDEX(name, V, scattered_block, (h(t + 32 * (int)blockIdx.x) & 127))
INDICES(sh32, float)
INDICES(sh64, float2)
INDICES(sh128, float4)

// ---- Some lanes only ------------------------------------------------------------------------------------------
#define SOME(name, V, which, stride, condition) \
    K(name##_##which##_stride##stride##_b32) { \
        __shared__ V s[32 * stride + 1]; \
        int t = T; \
        float r = in[I]; \
        if (condition) s[stride * t] = make<V>(r); \
        __syncthreads(); \
        if (condition) r = sum(s[stride * t]) + 1; \
        out[I] = r; \
    }
#define SOMES(name, V, stride) \
    SOME(name, V, lane0, stride, t == 0) \
    SOME(name, V, first8, stride, t < 8) \
    SOME(name, V, first9, stride, t < 9) \
    SOME(name, V, first17, stride, t < 17) \
    SOME(name, V, odd, stride, t & 1) \
    SOME(name, V, bit1, stride, t & 2) \
    SOME(name, V, bit2, stride, t & 4) \
    SOME(name, V, fourth, stride, (t & 3) == 1) \
    SOME(name, V, data, stride, r > 6)
SOMES(sh32, float, 2)
SOMES(sh64, float2, 1)
SOMES(sh64, float2, 2)
SOMES(sh128, float4, 1)
SOMES(sh128, float4, 8)

// ---- Narrow and other types -----------------------------------------------------------------------------------
#define NARROW(name, V, stride) STRIDE(name, V, stride)
NARROW(sh_u8, u8, 1)
NARROW(sh_u8, u8, 2)
NARROW(sh_u8, u8, 3)
NARROW(sh_u8, u8, 4)
NARROW(sh_u8, u8, 33)
NARROW(sh_u8, u8, 128)
NARROW(sh_u16, u16, 1)
NARROW(sh_u16, u16, 2)
NARROW(sh_u16, u16, 3)
NARROW(sh_u16, u16, 16)
NARROW(sh_u16, u16, 64)
NARROW(sh_f64, double, 1)
NARROW(sh_f64, double, 2)
NARROW(sh_f64, double, 16)
NARROW(sh_f64x2, double2, 1)
NARROW(sh_f64x2, double2, 3)
INDEX(sh_u8, u8, by4_scattered, (h(t) & 127) * 4 + (t & 3))
INDEX(sh_u16, u16, pairs_swapped, t ^ 1)
INDEX(sh_f64, double, by2, t / 2)

// ---- Tiles ----------------------------------------------------------------------------------------------------
#define TILE(name, V, width, shape) \
    K(tile_##name##_##width##_##shape) { \
        __shared__ V s[32][width]; \
        for (int y = threadIdx.y; y < 32; y += blockDim.y) \
            for (int x = T; x < 32; x += blockDim.x) s[y][x] = make<V>(in[1024 * blockIdx.x + 32 * y + x]); \
        __syncthreads(); \
        for (int y = threadIdx.y; y < 32; y += blockDim.y) \
            for (int x = T; x < 32; x += blockDim.x) out[1024 * blockIdx.x + 32 * y + x] = sum(s[x][y]); \
    }
TILE(f32, float, 32, b32x8)
TILE(f32, float, 33, b32x8)
TILE(f32, float, 34, b32x8)
TILE(f32, float, 36, b32x8)
TILE(f32, float, 32, b16x16)
TILE(f32, float, 33, b16x16)
TILE(f32, float, 33, b8x32)
TILE(f32x2, float2, 32, b32x8)
TILE(f32x2, float2, 33, b32x8)
TILE(f32x4, float4, 33, b32x8)
