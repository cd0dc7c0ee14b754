// Asynchronous copies and mbarriers: for compute_90.
#include "async.h"
#define K(name) extern "C" __global__ void name(const float *__restrict__ in, float *__restrict__ out, int n)
#define T ((int)threadIdx.x)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))
A int h(int x) { unsigned u = x * 2654435761u; u ^= u >> 13; u *= 2246822519u; return (u ^ (u >> 16)) & 16383; }
A float sum(float v) { return v; }
A float sum(float2 v) { return v.x + v.y; }
A float sum(float4 v) { return v.x + v.y + v.z + v.w; }

// ---- cp.async: type, and which element of `in` goes to which of `s` ----
#define COPY(name, type, from, to, size) \
    K(cpasync_##name) { \
        __shared__ __align__(128) type s[size]; \
        copy_ca<sizeof(type)>(&s[to], (const type *)in + (from)); \
        copy_wait(); \
        out[I] = sum(s[to]); \
    }
COPY(4_unit, float, I, T, 256)
COPY(8_unit, float2, I, T, 256)
COPY(16_unit, float4, I, T, 256)
COPY(4_stride2, float, 2 * I, T, 256)
COPY(4_stride8, float, 8 * I, T, 256)
COPY(16_stride2, float4, 2 * I, T, 256)
COPY(4_scattered, float, h(I), T, 256)
COPY(16_scattered, float4, h(I), T, 256)
COPY(4_same, float, n >> 10, T, 256)
COPY(4_offset1, float, I + 1, T, 256)
COPY(4_to_stride2, float, I, 2 * T, 512)
COPY(4_to_stride8, float, I, 8 * T, 2048)
COPY(4_to_stride32_b32, float, I, 32 * T, 1024)
COPY(16_to_stride2, float4, I, 2 * T, 512)
COPY(16_to_stride8_b32, float4, I, 8 * T, 256)
COPY(4_to_reversed, float, I, 255 - T, 256)
K(cpasync_cg_unit) { __shared__ __align__(128) float4 s[256]; copy_cg(&s[T], (const float4 *)in + I); copy_wait(); out[I] = sum(s[T]); }
K(cpasync_4_half) { __shared__ float s[256]; s[T] = 0; if (T & 1) copy_ca<4>(&s[T], in + I); copy_wait(); out[I] = s[T]; }
K(cpasync_16_tail) { __shared__ __align__(128) float4 s[256]; copy_tail<16>(&s[T], (const float4 *)in + I, T & 8); copy_wait(); out[I] = sum(s[T]); }
K(cpasync_mbarrier) {
    __shared__ float s[256]; __shared__ u64 b;
    if (!T) mb_init(&b, 256);
    __syncthreads();
    copy_ca<4>(&s[T], in + I); copy_arrive(&b); mb_wait(&b, 0);
    out[I] = s[255 - T];
}

// ---- mbarriers ----
K(mbarrier_init) { __shared__ u64 b[256]; mb_init(&b[T], 1); out[I] = 1; }
K(mbarrier_arrive_all) { __shared__ u64 b; if (!T) mb_init(&b, 256); __syncthreads(); mb_arrive(&b); mb_wait(&b, 0); out[I] = 1; }
K(mbarrier_arrive_warps) { __shared__ u64 b; if (!T) mb_init(&b, 8); __syncthreads(); if (!(T & 31)) mb_arrive(&b); mb_wait(&b, 0); out[I] = 1; }
K(mbarrier_arrive_own) { __shared__ u64 b[256]; mb_init(&b[T], 1); mb_arrive(&b[T]); out[I] = (float)mb_test_parity(&b[T], 0); }
K(mbarrier_test) { __shared__ u64 b; if (!T) mb_init(&b, 1); __syncthreads(); out[I] = (float)mb_test_parity(&b, 1); }
K(mbarrier_expect) { __shared__ u64 b; if (!T) mb_init(&b, 1); __syncthreads(); if (!T) { mb_expect(&b, 16); mb_complete(&b, 16); } mb_wait(&b, 0); out[I] = 1; }

// ---- Bulk copies: one thread copies `bytes` ----
#define LOAD(name, bytes, times) \
    K(bulk_load_##name) { \
        __shared__ __align__(128) float s[bytes * times / 4]; __shared__ u64 b; \
        if (!T) { mb_init(&b, 1); proxy_fence(); mb_expect(&b, bytes * times); \
            for (int i = 0; i < times; i++) bulk_load((char *)s + i * bytes, (const char *)in + blockIdx.x * 4096 + i * bytes, bytes, &b); } \
        __syncthreads(); \
        mb_wait(&b, 0); \
        out[I] = s[T % (bytes * times / 4)]; \
    }
LOAD(16, 16, 1)
LOAD(64, 64, 1)
LOAD(128, 128, 1)
LOAD(1024, 1024, 1)
LOAD(4096, 4096, 1)
LOAD(16x16, 16, 16)
LOAD(16x128, 128, 16)
K(bulk_load_unaligned) {
    __shared__ __align__(128) float s[256]; __shared__ u64 b;
    if (!T) { mb_init(&b, 1); proxy_fence(); mb_expect(&b, 1024); bulk_load(s, (const char *)in + blockIdx.x * 4096 + 16, 1024, &b); }
    __syncthreads();
    mb_wait(&b, 0);
    out[I] = s[T];
}
BULK_REDUCE(bulk_add_f32, "add.f32")
BULK_REDUCE(bulk_add_u32, "add.u32")
BULK_REDUCE(bulk_min_s32, "min.s32")
#define STORE(name, operation, bytes) \
    K(bulk_##name) { \
        __shared__ __align__(128) float s[1024]; \
        for (int i = T; i < 1024; i += 256) s[i] = i; \
        proxy_fence(); \
        __syncthreads(); \
        if (!T) { operation((char *)out + blockIdx.x * 4096, s, bytes); bulk_commit(); bulk_wait(); } \
    }
STORE(store_16, bulk_store, 16)
STORE(store_128, bulk_store, 128)
STORE(store_1024, bulk_store, 1024)
STORE(store_4096, bulk_store, 4096)
STORE(add_f32_1024, bulk_add_f32, 1024)
STORE(add_u32_1024, bulk_add_u32, 1024)
STORE(min_s32_1024, bulk_min_s32, 1024)
K(bulk_prefetch_4096) { if (!T) bulk_prefetch((const char *)in + blockIdx.x * 4096, 4096); out[I] = in[I]; }
K(bulk_within_shared) {
    __shared__ __align__(128) float s[512]; __shared__ u64 b;
    s[T] = T;
    if (!T) mb_init(&b, 1);
    proxy_fence();
    __syncthreads();
    if (!T) { mb_expect(&b, 1024); bulk_send(at(s + 256), s, 1024, at(&b)); }
    mb_wait(&b, 0);
    out[I] = s[256 + T];
}
