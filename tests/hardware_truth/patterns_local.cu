// Local memory (arrays that an index known only at run time keeps out of registers) and constant memory.
#include "patterns.h"

// ---- Arrays of a thread's own: filled and read with an index that is the same in all lanes, or each lane's ------
#define ARRAYS(name, V, size) \
    K(local_##name##_##size##_uniform) { \
        V a[size]; \
        _Pragma("unroll 1") for (int i = 0; i < size; i++) a[i * 5 % size] = make<V>(in[i]); \
        float t = 0; \
        _Pragma("unroll 1") for (int i = 0; i < n >> 11; i++) t += sum(a[(i * 3 + n) % size]); \
        out[I] = t; \
    } \
    K(local_##name##_##size##_lane) { \
        V a[size]; \
        _Pragma("unroll 1") for (int i = 0; i < size; i++) a[(i + T) % size] = make<V>(in[i]); \
        float t = 0; \
        _Pragma("unroll 1") for (int i = 0; i < n >> 11; i++) t += sum(a[(i * 3 + T) % size]); \
        out[I] = t; \
    }
ARRAYS(f32, float, 4)
ARRAYS(f32, float, 8)
ARRAYS(f32, float, 16)
ARRAYS(f32, float, 32)
ARRAYS(f32, float, 64)
ARRAYS(u8, u8, 16)
ARRAYS(u16, u16, 16)
ARRAYS(f64, double, 8)
ARRAYS(f32x2, float2, 8)
ARRAYS(f32x4, float4, 8)
K(local_f32_half_warp) { float a[16]; for (int i = 0; i < 16; i++) a[(i + T) & 15] = in[i]; if (T % 32 < 16) out[I] = a[(T + n) & 7]; }
K(local_f32_random)    { float a[16]; for (int i = 0; i < 16; i++) a[(i + n) & 15] = in[i]; out[I] = a[h(I) & 15]; }

// ---- Constant memory: no traffic on the paths counted here ----------------------------------------------------
__constant__ float table[1024] = {1, 2, 3, 5, 7, 11};
__constant__ float4 table4[64] = {{1, 2, 3, 5}};
K(const_uniform)    { out[I] = in[I] * table[blockIdx.x]; }
K(const_fixed)      { out[I] = in[I] * table[3]; }
K(const_lane)       { out[I] = in[I] * table[T]; }
K(const_stride32)   { out[I] = in[I] * table[L * 32]; }
K(const_half)       { out[I] = in[I] * table[T / 16]; }
K(const_loop)       { float t = in[I]; _Pragma("unroll 1") for (int i = 0; i < n >> 10; i++) t += table[i]; out[I] = t; }
K(const_f32x4_lane) { out[I] = in[I] * sum(table4[T & 63]); }

// ---- Module variables and tables in global memory -------------------------------------------------------------
__device__ float counter[64];
__device__ const float primes[32] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
K(variable_store) { counter[blockIdx.x] = in[I]; out[I] = 1; }
K(variable_table) { out[I] = primes[T % 16]; }
