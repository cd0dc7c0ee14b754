// What asynchronous copies, mbarriers and clusters compute, for compute_90: every kernel writes numbers that do not depend on the
// order in which threads run. On a GPU,
//     nvcc -std=c++17 -arch=sm_90 -DRECORD async_forms.cu -o async_forms && ./async_forms > async_answers.csv
// prints a row for each: its name, a hash of all it wrote, and its first words. async_forms.py makes the same rows
// by the emulator. Each kernel has 8 blocks of 64 threads and writes 4 words a thread; in[i] is i * 2654435761.
#include "async.h"
#define F(name) extern "C" __global__ void name(const u32 *__restrict__ in, u32 *__restrict__ out)
#define C(name, blocks) extern "C" __global__ void __cluster_dims__ blocks name(const u32 *__restrict__ in, u32 *__restrict__ out)
#define T threadIdx.x
#define I (blockIdx.x * 64 + T)
#define OUT(k, v) (out[I * 4 + (k)] = (u32)(v))
#define SPECIAL(name) [] { u32 v; asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); return v; }()

// ---- mbarriers ----
F(pending_counts) {
    __shared__ u64 b[64];
    mb_init(&b[T], T + 3);
    const u64 first = mb_arrive(&b[T]), second = mb_arrive_n(&b[T], 1), third = mb_arrive_n(&b[T], T + 1);
    const u64 fourth = mb_arrive_keeping(&b[T], T + 1);
    OUT(0, mb_pending(first)); OUT(1, mb_pending(second)); OUT(2, mb_pending(third)); OUT(3, mb_pending(fourth));
}
F(tests_of_states) {
    __shared__ u64 b[64];
    mb_init(&b[T], 2);
    const u64 first = mb_arrive(&b[T]);
    OUT(0, mb_test(&b[T], first));
    mb_arrive(&b[T]);
    OUT(1, mb_test(&b[T], first));
    const u64 next = mb_arrive(&b[T]);
    OUT(2, mb_test(&b[T], next)); OUT(3, mb_pending(next));
}
F(tests_of_parities) {
    __shared__ u64 b[64];
    mb_init(&b[T], 1);
    OUT(0, mb_test_parity(&b[T], 0) | mb_test_parity(&b[T], 1) << 1);
    mb_arrive(&b[T]);
    OUT(1, mb_test_parity(&b[T], 0) | mb_test_parity(&b[T], 1) << 1);
    mb_arrive(&b[T]);
    OUT(2, mb_test_parity(&b[T], 0) | mb_test_parity(&b[T], 1) << 1);
    mb_inval(&b[T]);
    mb_init(&b[T], 1);
    OUT(3, mb_test_parity(&b[T], 0) | mb_test_parity(&b[T], 1) << 1);
}
F(drops) {
    __shared__ u64 b[64];
    mb_init(&b[T], 3);
    mb_arrive(&b[T]);
    const u64 dropped = mb_drop(&b[T]), last = mb_arrive(&b[T]), first = mb_arrive(&b[T]);
    OUT(0, mb_pending(dropped)); OUT(1, mb_pending(last)); OUT(2, mb_pending(first)); OUT(3, mb_test(&b[T], last));
}
F(bytes) {
    __shared__ u64 b[64];
    mb_init(&b[T], 1);
    mb_complete(&b[T], 48);
    mb_expect_only(&b[T], 32);
    const u64 s = mb_expect(&b[T], 16 * (T + 2));
    OUT(0, mb_test(&b[T], s));
    mb_complete(&b[T], 16 * T);
    OUT(1, mb_test(&b[T], s));
    mb_complete(&b[T], 16);
    OUT(2, mb_test(&b[T], s));
    OUT(3, mb_pending(mb_arrive(&b[T])));
}
F(phases) {
    __shared__ u64 b; __shared__ u32 s[64];
    if (!T) mb_init(&b, 64);
    __syncthreads();
    u32 v = in[I];
    for (int i = 0; i < 4; i++) {
        s[T] = v;
        mb_wait_state(&b, mb_arrive(&b));
        v = v * 3 + s[(T + i + 1) & 63];
        mb_arrive(&b);
        mb_wait(&b, 1);
        OUT(i, v);
    }
}

// ---- Copies ----
F(cp_async_arrives) {
    __shared__ __align__(16) u32 s[384]; __shared__ u64 b, c;
    if (!T) { mb_init(&b, 64); mb_init(&c, 1); }
    __syncthreads();
    copy_ca<8>(s + 2 * T, in + 2 * I);
    copy_arrive(&b);
    copy_tail<16>(s + 128 + 4 * T, in + 4 * T, T & 12);
    copy_arrive_more(&c);
    __syncthreads();
    if (!T) mb_arrive(&c);
    mb_wait(&b, 0);
    mb_wait(&c, 0);
    OUT(0, s[127 - T]); OUT(1, s[T]); OUT(2, s[128 + T]); OUT(3, s[383 - T]);
}
template <u32 BYTES> A void load_and_show(const u32 *in, u32 *out) {
    __shared__ __align__(128) u32 s[BYTES / 4]; __shared__ u64 b;
    if (!T) { mb_init(&b, 1); proxy_fence(); mb_expect(&b, BYTES); bulk_load(s, in + blockIdx.x * 4, BYTES, &b); }
    __syncthreads();
    mb_wait(&b, 0);
    for (int k = 0; k < 4; k++) OUT(k, s[(T * 4 + k) % (BYTES / 4)]);
}
F(bulk_load_16) { load_and_show<16>(in, out); }
F(bulk_load_112) { load_and_show<112>(in, out); }
F(bulk_load_1024) { load_and_show<1024>(in, out); }
F(bulk_ring) {
    __shared__ __align__(128) u32 s[2][64]; __shared__ u64 full[2], empty[2];
    if (!T) for (int k = 0; k < 2; k++) { mb_init(&full[k], 1); mb_init(&empty[k], 64); }
    proxy_fence();
    __syncthreads();
    u32 v = 0;
    if (!T) for (int i = 0; i < 2; i++) { mb_expect(&full[i], 256); bulk_load(s[i], in + i * 64, 256, &full[i]); }
    for (int i = 0; i < 12; i++) {
        mb_wait(&full[i & 1], i >> 1 & 1);
        v = v * 5 + s[i & 1][63 - T];
        mb_arrive(&empty[i & 1]);
        if (!T && i + 2 < 12) { mb_wait(&empty[i & 1], i >> 1 & 1); mb_expect(&full[i & 1], 256); bulk_load(s[i & 1], in + (i + 2) * 64, 256, &full[i & 1]); }
        if (i % 3 == 2) OUT(i / 3, v);
    }
}
BULK_REDUCE(reduce_add_u32, "add.u32") BULK_REDUCE(reduce_add_u64, "add.u64") BULK_REDUCE(reduce_add_f32, "add.f32") BULK_REDUCE(reduce_add_f64, "add.f64")
BULK_REDUCE(reduce_add_f16, "add.noftz.f16") BULK_REDUCE(reduce_add_bf16, "add.noftz.bf16") BULK_REDUCE(reduce_min_f16, "min.f16") BULK_REDUCE(reduce_max_bf16, "max.bf16")
BULK_REDUCE(reduce_min_s32, "min.s32") BULK_REDUCE(reduce_max_u32, "max.u32") BULK_REDUCE(reduce_min_u64, "min.u64") BULK_REDUCE(reduce_max_s64, "max.s64")
BULK_REDUCE(reduce_and, "and.b32") BULK_REDUCE(reduce_or, "or.b64") BULK_REDUCE(reduce_xor, "xor.b32") BULK_REDUCE(reduce_inc, "inc.u32") BULK_REDUCE(reduce_dec, "dec.u32")
// Each block's 256 words, which `in` gives first, are combined with others.
#define REDUCES(name) \
    F(bulk_##name) { \
        __shared__ __align__(128) u32 s[256]; \
        for (int k = 0; k < 4; k++) { OUT(k, in[I * 4 + k]); s[T * 4 + k] = in[4096 + I * 4 + k]; } \
        proxy_fence(); \
        __threadfence(); \
        asm volatile("fence.proxy.async;" ::: "memory"); \
        __syncthreads(); \
        if (!T) { name(out + blockIdx.x * 256, s, 1024); bulk_commit(); bulk_wait(); } \
    }
REDUCES(bulk_store)
REDUCES(reduce_add_u32) REDUCES(reduce_add_u64) REDUCES(reduce_add_f32) REDUCES(reduce_add_f64) REDUCES(reduce_add_f16) REDUCES(reduce_add_bf16) REDUCES(reduce_min_f16) REDUCES(reduce_max_bf16)
REDUCES(reduce_min_s32) REDUCES(reduce_max_u32) REDUCES(reduce_min_u64) REDUCES(reduce_max_s64) REDUCES(reduce_and) REDUCES(reduce_or) REDUCES(reduce_xor) REDUCES(reduce_inc) REDUCES(reduce_dec)

// ---- Clusters ----
#define REGISTERS(name, blocks) \
    C(registers_##name, blocks) { \
        OUT(0, SPECIAL("clusterid.x") | SPECIAL("nclusterid.x") << 8 | SPECIAL("clusterid.y") << 16 | SPECIAL("nclusterid.y") << 24); \
        OUT(1, SPECIAL("cluster_ctaid.x") | SPECIAL("cluster_nctaid.x") << 8 | SPECIAL("cluster_ctaid.y") << 16 | SPECIAL("cluster_nctaid.y") << 24); \
        OUT(2, SPECIAL("cluster_ctarank") | SPECIAL("cluster_nctarank") << 8 | SPECIAL("cluster_nctaid.z") << 16 | SPECIAL("clusterid.z") << 24); \
        u32 explicit_; \
        asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(explicit_)); \
        OUT(3, explicit_ | SPECIAL("nctaid.x") << 8 | SPECIAL("ctaid.x") << 16); \
    }
REGISTERS(1, (1, 1, 1))
REGISTERS(2, (2, 1, 1))
REGISTERS(8, (8, 1, 1))
F(registers_of_no_cluster) { OUT(0, SPECIAL("cluster_ctarank") | SPECIAL("cluster_nctarank") << 8); OUT(1, SPECIAL("clusterid.x") | SPECIAL("nclusterid.x") << 8); OUT(2, rank_of(mapped(out, 0)) * 0); OUT(3, 0); }
C(ranks, (4, 1, 1)) {
    __shared__ u32 s[64];
    u64 generic;
    asm("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&s[T]), "r"(T & 3));
    u32 rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(generic));
    OUT(0, rank_of(mapped(s, T & 3))); OUT(1, rank); OUT(2, rank_of(at(s)) == my_rank()); OUT(3, mapped(&s[1], 1) - mapped(s, 1));
}
C(far_values, (4, 1, 1)) {
    __shared__ __align__(16) u32 s[64];
    s[T] = in[I];
    cluster_sync();
    OUT(0, far_u32(mapped(s + 63 - T, (my_rank() + 1) & 3)));
    OUT(1, *cg::this_cluster().map_shared_rank(&s[T], (T >> 2) & 3));
    OUT(2, far_u32(mapped(s + T, my_rank())));
    OUT(3, far_u32(at(s + T)));
    cluster_sync();
}
C(far_stores, (4, 1, 1)) {
    __shared__ u32 s[64];
    s[T] = 0;
    cluster_sync();
    far_store(mapped(s + (T ^ 5), (my_rank() + 3) & 3), (float)(I * 7));
    cluster_sync();
    OUT(0, s[T]); OUT(1, 1); OUT(2, 2); OUT(3, 3);
}
C(far_atomics, (8, 1, 1)) {
    __shared__ u32 s[8];
    if (T < 8) s[T] = 0;
    cluster_sync();
    far_red(mapped(s + (T & 7), T >> 3), I);
    far_add(mapped(s + (T & 3), (my_rank() + T) & 7), in[I]);
    cluster_sync();
    OUT(0, s[T & 7]); OUT(1, s[(T + 1) & 7]); OUT(2, 0); OUT(3, 0);
}
C(far_arrivals, (2, 1, 1)) {
    __shared__ u64 b; __shared__ u32 s[64];
    if (!T) { mb_init(&b, 64); init_fence(); }
    cluster_sync();
    far_store(mapped(s + T, my_rank() ^ 1), (float)I);
    far_arrive(mapped(&b, my_rank() ^ 1));
    mb_wait_cluster(&b, 0);
    OUT(0, s[63 - T]); OUT(1, 1); OUT(2, 0); OUT(3, 0);
    cluster_sync();
}
C(far_bulk, (4, 1, 1)) {
    __shared__ __align__(128) u32 s[128]; __shared__ u64 b;
    s[T] = in[I];
    if (!T) { mb_init(&b, 1); init_fence(); }
    proxy_fence();
    cluster_sync();
    const u32 next = (my_rank() + 1) & 3;
    if (!T) { far_expect(mapped(&b, next), 256); bulk_send(mapped(s + 64, next), s, 256, mapped(&b, next)); }
    mb_wait_cluster(&b, 0);
    OUT(0, s[64 + T]); OUT(1, s[T]); OUT(2, 0); OUT(3, 0);
    cluster_sync();
}
C(far_multicast, (4, 1, 1)) {
    __shared__ __align__(128) u32 s[64]; __shared__ u64 b;
    s[T] = 9;
    if (!T) { mb_init(&b, 1); init_fence(); if (my_rank() != 2) mb_expect(&b, 256); }
    proxy_fence();
    cluster_sync();
    if (!T && my_rank() == 1) bulk_multicast(s, in + blockIdx.x * 4, 256, &b, 0xb);
    if (my_rank() != 2) mb_wait_cluster(&b, 0);
    OUT(0, s[T]); OUT(1, 0); OUT(2, 0); OUT(3, 0);
    cluster_sync();
}
C(cluster_sum, (8, 1, 1)) {
    __shared__ u32 part;
    u32 v = in[I];
    for (int i = 16; i; i /= 2) v += __shfl_xor_sync(~0u, v, i);
    __shared__ u32 warps[2];
    if (!(T & 31)) warps[T / 32] = v;
    __syncthreads();
    if (!T) part = warps[0] + warps[1];
    cluster_sync();
    u32 sum = 0;
    for (u32 k = 0; k < 8; k++) sum += far_u32(mapped(&part, k));
    OUT(0, sum); OUT(1, part); OUT(2, 0); OUT(3, 0);
    cluster_sync();
}
F(elections) {
    u32 leader, is_leader;
    asm volatile("{ .reg .pred p; elect.sync %0|p, -1; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(is_leader));
    u32 second = 9, is_second = 9;
    if (T & 2) asm volatile("{ .reg .pred p; elect.sync %0|p, 0xcccccccc; selp.u32 %1, 1, 0, p; }" : "=r"(second), "=r"(is_second));
    OUT(0, leader); OUT(1, is_leader); OUT(2, second); OUT(3, is_second);
}

#ifdef RECORD
#include <stdio.h>
#define CK(x) do { cudaError_t e = (x); if (e) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)); return 1; } } while (0)
enum { THREADS = 512, WORDS = 4 * THREADS, INPUTS = 8192 };
static const struct { const char *name; void (*run)(const u32 *, u32 *); } forms[] = {
#define ROW(name) {#name, name},
#include "async_forms.def"
};
int main() {
    static u32 given[INPUTS], got[WORDS];
    u32 *in, *out;
    for (u32 i = 0; i < INPUTS; i++) given[i] = i * 2654435761u;
    CK(cudaMalloc(&in, sizeof given)); CK(cudaMalloc(&out, sizeof got)); CK(cudaMemcpy(in, given, sizeof given, cudaMemcpyHostToDevice));
    puts("form,hash,first");
    for (auto &form : forms) {
        CK(cudaMemset(out, 0xa5, sizeof got));
        form.run<<<8, 64>>>(in, out);
        CK(cudaDeviceSynchronize()); CK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
        u64 hash = 14695981039346656037ull;
        for (u32 word : got) hash = (hash ^ word) * 1099511628211ull;
        printf("%s,%016llx,", form.name, hash);
        for (int i = 0; i < 8; i++) printf("%08x%c", got[i], i < 7 ? ' ' : '\n');
    }
}
#endif
