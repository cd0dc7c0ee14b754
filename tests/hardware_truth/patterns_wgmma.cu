// wgmma: products of tiles in shared memory, for compute_90a. What their reads cost shared memory.
#include "async.h"
#define K(name) extern "C" __global__ void name(const float *__restrict__ in, float *__restrict__ out, int n)
#define T ((int)threadIdx.x)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define SUMS "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define EACH(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])

A u64 described(const void *p, u32 leading, u32 stride, u32 swizzle) {
    return (u64)((at(p) & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)swizzle << 62;
}
A void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
A void end() { asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory"); }
template <int TA, int TB> A void multiply(float *d, u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " SUMS ", %8, %9, 1, 1, 1, %10, %11;" : EACH(d) : "l"(a), "l"(b), "n"(TA), "n"(TB) : "memory");
}
template <int TB> A void multiply_registers(float *d, const u32 *a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " SUMS ", {%8, %9, %10, %11}, %12, 1, 1, 1, %13;" : EACH(d) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(TB) : "memory");
}
// Four products in a row, with factors as their layouts say.
#define PRODUCT(name, leading_a, stride_a, swizzle_a, ta, leading_b, stride_b, swizzle_b, tb) \
    K(wgmma_##name##_b128) { \
        __shared__ __align__(1024) float s[6144]; \
        for (int i = T; i < 6144; i += 128) s[i] = in[i]; \
        proxy_fence(); \
        __syncthreads(); \
        float d[8] = {0, 0, 0, 0, 0, 0, 0, 0}; \
        begin(); \
        for (int i = 0; i < 4; i++) multiply<ta, tb>(d, described(s, leading_a, stride_a, swizzle_a), described(s + 4096, leading_b, stride_b, swizzle_b)); \
        end(); \
        float total = 0; \
        for (int i = 0; i < 8; i++) total += d[i]; \
        out[I] = total; \
    }
PRODUCT(plain, 1024, 128, 0, 0, 256, 128, 0, 0)
PRODUCT(swizzle128, 16, 1024, 1, 0, 16, 1024, 1, 0)
PRODUCT(swizzle64, 16, 512, 2, 0, 16, 512, 2, 0)
PRODUCT(swizzle32, 16, 256, 3, 0, 16, 256, 3, 0)
PRODUCT(turned_a, 1024, 128, 0, 1, 256, 128, 0, 0)
PRODUCT(turned_b, 1024, 128, 0, 0, 256, 128, 0, 1)
PRODUCT(turned_swizzle128, 1024, 1024, 1, 1, 16, 1024, 1, 0)
PRODUCT(strided, 128, 256, 0, 0, 128, 256, 0, 0)
PRODUCT(same_rows, 0, 0, 0, 0, 0, 0, 0, 0)
K(wgmma_registers_b128) {
    __shared__ __align__(1024) float s[2048];
    for (int i = T; i < 2048; i += 128) s[i] = in[i];
    proxy_fence();
    __syncthreads();
    float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const u32 a[4] = {(u32)in[T], (u32)in[T + 128], (u32)in[T + 256], (u32)in[T + 384]};
    begin();
    for (int i = 0; i < 4; i++) multiply_registers<0>(d, a, described(s, 256, 128, 0));
    end();
    float total = 0;
    for (int i = 0; i < 8; i++) total += d[i];
    out[I] = total;
}
