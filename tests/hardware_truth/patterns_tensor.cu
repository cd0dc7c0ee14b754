// Matrix instructions: rows that ldmatrix reads from shared memory, and fragments that wmma loads and stores.
#include <mma.h>

#include "patterns.h"
using namespace nvcuda;

__device__ __forceinline__ u32 address_of(const void *p) { return (u32)__cvta_generic_to_shared(p); }
template <int N> __device__ __forceinline__ float rows(const void *p, bool turned);
#define LOADS(N, list) \
    template <> __device__ __forceinline__ float rows<N>(const void *p, bool turned) { \
        u32 a = 0, b = 0, c = 0, d = 0; \
        if (turned) asm volatile("ldmatrix.sync.aligned.m8n8.x" #N ".trans.shared.b16 " list ", [%4];" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(address_of(p))); \
        else asm volatile("ldmatrix.sync.aligned.m8n8.x" #N ".shared.b16 " list ", [%4];" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(address_of(p))); \
        return (float)a + (float)b + (float)c + (float)d; \
    }
LOADS(1, "{%0}")
LOADS(2, "{%0,%1}")
LOADS(4, "{%0,%1,%2,%3}")

// Row t begins `stride` bytes behind row t - 1.
#define ROWS(N, stride) \
    K(ldmatrix_x##N##_stride##stride##_b32) { \
        __shared__ __align__(128) float s[32 * stride / 4]; \
        for (int i = T; i < 32 * stride / 4; i += 32) s[i] = in[i]; \
        __syncthreads(); \
        out[I] = rows<N>((char *)s + T * stride, false); \
    }
#define STRIDES(N) ROWS(N, 16) ROWS(N, 32) ROWS(N, 48) ROWS(N, 64) ROWS(N, 80) ROWS(N, 96) ROWS(N, 112) ROWS(N, 128) ROWS(N, 144) ROWS(N, 160) ROWS(N, 192) ROWS(N, 256) ROWS(N, 272)
STRIDES(1)
STRIDES(2)
STRIDES(4)

// Which 16 bytes of 4 KiB each lane names.
#define PLACES(name, place, turned) \
    K(ldmatrix_##name##_b32) { \
        __shared__ __align__(128) float s[1024]; \
        for (int i = T; i < 1024; i += 32) s[i] = in[i]; \
        __syncthreads(); \
        out[I] = rows<4>((char *)s + 16 * (place), turned); \
    }
PLACES(same, n >> 10, false)
PLACES(by2, T / 2, false)
PLACES(by8, T / 8, false)
PLACES(mod8, T & 7, false)
PLACES(mod8_far, (T & 7) * 8, false)
PLACES(twins, (T & 7) / 2 * 2 * 8 + (T & 1), false)
PLACES(reversed, 31 - T, false)
PLACES(scattered, h(I) & 255, false)
PLACES(swizzled, T * 8 + ((T & 7) ^ (T >> 3)), false)
PLACES(halves, (T & 15) * 8 + (T >> 4), false)
PLACES(turned, T, true)
PLACES(turned_stride128, T * 8, true)
PLACES(turned_swizzled, T * 8 + ((T & 7) ^ (T >> 3)), true)

// Fragments: which operand, its layout, and elements between rows.
#define FRAGMENT(name, use, type, layout, stride) \
    K(wmma_shared_##name##_##layout##_##stride##_b32) { \
        __shared__ __align__(128) float s[4096]; \
        for (int i = T; i < 4096; i += 32) s[i] = in[i]; \
        __syncthreads(); \
        wmma::fragment<wmma::use, 16, 16, 16, type, wmma::layout> f; \
        wmma::load_matrix_sync(f, (const type *)s, stride); \
        float total = 0; \
        for (int i = 0; i < f.num_elements; i++) total += (float)f.x[i]; \
        out[I] = total; \
    } \
    K(wmma_global_##name##_##layout##_##stride##_b32) { \
        wmma::fragment<wmma::use, 16, 16, 16, type, wmma::layout> f; \
        wmma::load_matrix_sync(f, (const type *)in, stride); \
        float total = 0; \
        for (int i = 0; i < f.num_elements; i++) total += (float)f.x[i]; \
        out[I] = total; \
    }
#define FACTORS(name, use, type) \
    FRAGMENT(name, use, type, row_major, 16) FRAGMENT(name, use, type, col_major, 16) FRAGMENT(name, use, type, row_major, 32) \
    FRAGMENT(name, use, type, col_major, 32) FRAGMENT(name, use, type, row_major, 64) FRAGMENT(name, use, type, row_major, 80) FRAGMENT(name, use, type, col_major, 80)
FACTORS(a_f16, matrix_a, half)
FACTORS(b_f16, matrix_b, half)
FACTORS(a_s8, matrix_a, signed char)

#define SUMS(name, type, layout, stride) \
    K(wmma_sums_##name##_##layout##_##stride##_b32) { \
        __shared__ __align__(128) float s[4096]; \
        for (int i = T; i < 4096; i += 32) s[i] = in[i]; \
        __syncthreads(); \
        wmma::fragment<wmma::accumulator, 16, 16, 16, type> f; \
        wmma::load_matrix_sync(f, (const type *)s, stride, wmma::mem_##layout); \
        wmma::store_matrix_sync((type *)s + 8 * stride, f, stride, wmma::mem_##layout); \
        __syncthreads(); \
        out[I] = s[T * 17]; \
    } \
    K(wmma_stores_##name##_##layout##_##stride##_b32) { \
        wmma::fragment<wmma::accumulator, 16, 16, 16, type> f; \
        wmma::load_matrix_sync(f, (const type *)in, stride, wmma::mem_##layout); \
        wmma::store_matrix_sync((type *)out, f, stride, wmma::mem_##layout); \
    }
SUMS(f32, float, row_major, 16)
SUMS(f32, float, row_major, 20)
SUMS(f32, float, row_major, 64)
SUMS(f32, float, col_major, 16)
SUMS(f32, float, col_major, 20)
SUMS(f16, half, row_major, 16)
SUMS(f16, half, row_major, 24)
SUMS(f16, half, col_major, 16)
