// What the blocks of a cluster do in each other's shared memory: for compute_90.
#include "async.h"
#define C(name) extern "C" __global__ void __cluster_dims__(2, 1, 1) name(const float *__restrict__ in, float *__restrict__ out, int n)
#define T ((int)threadIdx.x)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))
A int h(int x) { unsigned u = x * 2654435761u; u ^= u >> 13; u *= 2246822519u; return (u ^ (u >> 16)) & 16383; }
A float sum(float4 v) { return v.x + v.y + v.z + v.w; }

// ---- Distributed shared memory: of the other block of two ----
#define FAR(name, size, body) \
    C(far_##name) { \
        __shared__ __align__(128) float s[size]; \
        for (int i = T; i < size; i += blockDim.x) s[i] = i; \
        const u32 far = mapped(s, my_rank() ^ 1), own = mapped(s, my_rank()); \
        cluster_sync(); \
        float v = (float)(far & 0) + (float)(own & 0); \
        body; \
        cluster_sync(); \
        out[I] = v + s[T]; \
    }
FAR(ld_unit, 256, v = far_f32(far + 4 * T))
FAR(ld_same, 256, v = far_f32(far))
FAR(ld_stride2, 512, v = far_f32(far + 8 * T))
FAR(ld_stride8, 2048, v = far_f32(far + 32 * T))
FAR(ld_stride32_b32, 1024, v = far_f32(far + 128 * T))
FAR(ld_scattered, 4096, v = far_f32(far + 4 * (h(I) & 4095)))
FAR(ld_v4, 1024, v = sum(far_f32x4(far + 16 * T)))
FAR(ld_own, 256, v = far_f32(own + 4 * T))
FAR(ld_half, 256, if (T & 1) v = far_f32(far + 4 * T))
FAR(ld_both, 256, v = far_f32((T & 1 ? far : own) + 4 * T))
FAR(ld_generic, 256, v = *cg::this_cluster().map_shared_rank(&s[T], my_rank() ^ 1))
FAR(st_unit, 256, far_store(far + 4 * T, T))
FAR(st_stride2, 512, far_store(far + 8 * T, T))
FAR(st_stride32_b32, 1024, far_store(far + 128 * T, T))
FAR(st_own, 256, far_store(own + 4 * T, T))
FAR(atom_unit, 256, v = far_add(far + 4 * T, T))
FAR(atom_same, 256, v = far_add(far, T))
FAR(atom_stride2, 512, v = far_add(far + 8 * T, T))
FAR(atom_own, 256, v = far_add(own + 4 * T, T))
FAR(red_unit, 256, far_red(far + 4 * T, T))
FAR(red_same, 256, far_red(far, T))
FAR(nothing, 256, (void)0)
C(far_arrive) {
    __shared__ u64 b;
    if (!T) { mb_init(&b, 256); init_fence(); }
    cluster_sync();
    far_arrive(mapped(&b, my_rank() ^ 1));
    mb_wait_cluster(&b, 0);
    cluster_sync();
    out[I] = 1;
}
C(far_bulk) {
    __shared__ __align__(128) float s[512]; __shared__ u64 b;
    s[T] = T;
    if (!T) { mb_init(&b, 1); init_fence(); mb_expect(&b, 1024); }
    proxy_fence();
    cluster_sync();
    if (!T) bulk_send(mapped(s + 256, my_rank() ^ 1), s, 1024, mapped(&b, my_rank() ^ 1));
    mb_wait_cluster(&b, 0);
    cluster_sync();
    out[I] = s[256 + T];
}
C(far_multicast) {
    __shared__ __align__(128) float s[256]; __shared__ u64 b;
    if (!T) { mb_init(&b, 1); init_fence(); mb_expect(&b, 1024); }
    cluster_sync();
    if (!T && !my_rank()) bulk_multicast(s, in + blockIdx.x * 256, 1024, &b, 3);
    mb_wait_cluster(&b, 0);
    cluster_sync();
    out[I] = s[T];
}
