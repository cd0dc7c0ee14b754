// Global memory: every width of access with offsets, strides and shared addresses; structures; rows and columns
// of a matrix; warps of which some lanes take part.
#include "patterns.h"

// ---- Widths: name, type ---------------------------------------------------------------------------------------
#define WIDTHS(F) F(u8, u8) F(u16, u16) F(u32, u32) F(u64, u64) F(f64, double) F(f32x2, float2) F(f32x4, float4) F(s16x2, short2) F(s8x4, char4) F(f64x2, double2) F(u64x2, ulonglong2)

#define LOADS(name, V) \
    K(ld_##name##_offset1)   { out[I] = sum(((const V *)in)[I + 1]); } \
    K(ld_##name##_stride3)   { out[I] = sum(((const V *)in)[3 * I]); } \
    K(ld_##name##_scattered) { out[I] = sum(((const V *)in)[h(I)]); } \
    K(ld_##name##_by4)       { out[I] = sum(((const V *)in)[I / 4]); }
WIDTHS(LOADS)

#define STORES(name, V) \
    K(st_##name##_offset1)  { ((V *)out)[I + 1] = make<V>(in[I]); } \
    K(st_##name##_stride3)  { ((V *)out)[3 * I] = make<V>(in[I]); } \
    K(st_##name##_reversed) { ((V *)out)[n - 1 - I] = make<V>(in[I]); }
WIDTHS(STORES)

// ---- The same address for several lanes: wide accesses go in parts of the warp, and an address may be met by
// lanes of one part or of several ----------------------------------------------------------------------------------
#define MULTICAST(name, V) \
    K(ld_##name##_warp)    { out[I] = sum(((const V *)in)[I / 32]); } \
    K(ld_##name##_by2)     { out[I] = sum(((const V *)in)[I / 2]); } \
    K(ld_##name##_mod2)    { out[I] = sum(((const V *)in)[T % 2]); } \
    K(ld_##name##_mod4)    { out[I] = sum(((const V *)in)[T % 4]); } \
    K(ld_##name##_mod8)    { out[I] = sum(((const V *)in)[T % 8]); } \
    K(ld_##name##_mod3x8)  { out[I] = sum(((const V *)in)[T % 3 * 8]); } \
    K(ld_##name##_few)     { out[I] = sum(((const V *)in)[h(I) % 64]); } \
    K(st_##name##_warp)    { ((V *)out)[I / 32] = make<V>(in[I]); } \
    K(st_##name##_by2)     { ((V *)out)[I / 2] = make<V>(in[I]); } \
    K(st_##name##_mod4)    { ((V *)out)[T % 4] = make<V>(in[I]); } \
    K(st_##name##_few)     { ((V *)out)[h(I) % 64] = make<V>(in[I]); }
MULTICAST(f32, float)
MULTICAST(f32x2, float2)
MULTICAST(f32x4, float4)
K(ld_f64x2_few) { out[I] = sum(((const double2 *)in)[h(I) % 64]); }
K(ld_u8_few)    { out[I] = ((const u8 *)in)[h(I) % 512]; }

// ---- One float a lane -----------------------------------------------------------------------------------------
K(ld_f32_stride3)      { out[I] = in[3 * I]; }
K(ld_f32_stride5)      { out[I] = in[5 * I]; }
K(ld_f32_stride7)      { out[I] = in[7 * I]; }
K(ld_f32_stride16)     { out[I] = in[16 * I]; }
K(ld_f32_stride33)     { out[I] = in[33 * I]; }
K(ld_f32_offset7)      { out[I] = in[I + 7]; }
K(ld_f32_offset8)      { out[I] = in[I + 8]; }
K(ld_f32_offset31)     { out[I] = in[I + 31]; }
K(ld_f32_xor1)         { out[I] = in[I ^ 1]; }
K(ld_f32_xor24)        { out[I] = in[I ^ 24]; }
K(ld_f32_shuffled)     { out[I] = in[(I & ~31) + (L * 13 & 31)]; }
K(ld_f32_two_rows)     { out[I] = in[I / 16 * 128 + T % 16]; }
K(ld_f32_cached_cg)    { out[I] = __ldcg(in + 2 * I); }
K(ld_f32_cached_cs)    { out[I] = __ldcs(in + 2 * I); }
K(ld_f32_volatile)     { out[I] = ((const volatile float *)in)[I + 3]; }
K(ld_f32_coherent)     { out[I] = out[I + n] + 1; }
K(st_f32_offset3)      { out[I + 3] = in[I]; }
K(st_f32_stride2)      { out[2 * I] = in[I]; }
K(st_f32_stride5)      { out[5 * I] = in[I]; }
K(st_f32_stride33)     { out[33 * I] = in[I]; }
K(st_f32_scattered)    { out[h(I)] = in[I]; }
K(st_f32_streaming)    { __stcs(out + I, in[I]); }
K(st_f32_through)      { __stwt(out + 2 * I, in[I]); }
K(st_f32_volatile)     { ((volatile float *)out)[I] = in[I]; }

// ---- Structures: floats and alignment; a structure aligned to 4 bytes is moved float by float ----------------
template <int N> struct Plain { float v[N]; };
template <int N> struct __align__(8) By8 { float v[N]; };
template <int N> struct __align__(16) By16 { float v[N]; };
template <typename S> __device__ __forceinline__ float total(const S &s) {
    float t = 0;
#pragma unroll
    for (int k = 0; k < (int)(sizeof s.v / 4); k++) t += s.v[k];
    return t;
}
template <typename S> __device__ __forceinline__ S filled(float x) {
    S s;
#pragma unroll
    for (int k = 0; k < (int)(sizeof s.v / 4); k++) s.v[k] = x + k;
    return s;
}
#define STRUCTURES(name, ...) \
    K(ld_##name) { __VA_ARGS__ s = ((const __VA_ARGS__ *)in)[I]; out[I] = total(s); } \
    K(st_##name) { ((__VA_ARGS__ *)out)[I] = filled<__VA_ARGS__>(in[I]); }
STRUCTURES(struct8, Plain<2>)
STRUCTURES(struct12, Plain<3>)
STRUCTURES(struct16, Plain<4>)
STRUCTURES(struct20, Plain<5>)
STRUCTURES(struct32, Plain<8>)
STRUCTURES(struct8_by8, By8<2>)
STRUCTURES(struct16_by8, By8<4>)
STRUCTURES(struct24_by8, By8<6>)
STRUCTURES(struct16_by16, By16<4>)
STRUCTURES(struct32_by16, By16<8>)
STRUCTURES(struct48_by16, By16<12>)
K(ld_struct_member) { out[I] = ((const Plain<5> *)in)[I].v[3]; }
K(ld_arrays3)       { out[I] = in[I] + in[I + n] + in[I + 2 * n]; }
K(ld_rgb8)          { const u8 *p = (const u8 *)in + 3 * I; out[I] = p[0] + 2 * p[1] + 3 * p[2]; }

// ---- A matrix of 128 columns, covered by blocks of two or three dimensions ---------------------------------------
#define TILES ((int)(128 / blockDim.x))
#define X ((int)(blockIdx.x % TILES * blockDim.x + threadIdx.x))
#define Y ((int)(blockIdx.x / TILES * blockDim.y + threadIdx.y))
#define MATRIX(shape) \
    K(rows_##shape)      { out[128 * Y + X] = in[128 * Y + X]; } \
    K(columns_##shape)   { out[128 * Y + X] = in[128 * X + Y]; } \
    K(pitch132_##shape)  { out[132 * Y + X] = in[132 * Y + X + 1]; }
MATRIX(b32x8)
MATRIX(b16x16)
MATRIX(b8x32)
MATRIX(b64x4)
MATRIX(b2x128)
K(swizzle_b8x4x8) { out[128 * blockIdx.x + 32 * threadIdx.z + 8 * threadIdx.y + T] = in[32 * (8 * (int)threadIdx.y + (int)threadIdx.z) + T]; }
K(ragged_b5x5)    { out[25 * blockIdx.x + 5 * threadIdx.y + T] = in[128 * threadIdx.y + T]; }
K(ragged_b7x9)    { out[128 * threadIdx.y + 8 * blockIdx.x + T] = in[128 * threadIdx.y + T]; }
K(ragged_b100)    { out[I] = in[I]; }
K(ragged_b1)      { out[I] = in[I]; }

// ---- Some lanes of a warp -------------------------------------------------------------------------------------
#define LANES(name, condition) \
    K(some_##name)  { if (condition) out[I] = in[I]; }
#define LANES4(name, condition) \
    LANES(name, condition) \
    K(some4_##name)   { if (condition) ((float4 *)out)[I] = ((const float4 *)in)[I]; }
LANES(first1, L < 1)
LANES(first2, L < 2)
LANES4(first5, L < 5)
LANES4(first9, L < 9)
LANES(first17, L < 17)
LANES4(first31, L < 31)
LANES(last, L == 31)
LANES4(odd, L & 1)
LANES4(fourth, L % 4 == 2)
LANES(eighth, L % 8 == 7)
LANES4(upper, L >= 16)
LANES(ends, L == 0 || L == 31)
LANES4(data, in[I + n] > 6)
LANES4(tail, I < 12345)
LANES(one_warp, T / 32 == 5)
