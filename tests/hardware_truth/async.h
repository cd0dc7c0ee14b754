// What patterns_async.cu and async_forms.cu share: the PTX of asynchronous copies, mbarriers and clusters.
// clang-format off
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define A __device__ __forceinline__

A u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// ---- mbarriers ----
A void mb_init(u64 *b, u32 count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(count) : "memory"); }
A u64 mb_arrive(u64 *b) { u64 s; asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(at(b)) : "memory"); return s; }
A u64 mb_arrive_n(u64 *b, u32 n) { u64 s; asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(at(b)), "r"(n) : "memory"); return s; }
A u64 mb_arrive_keeping(u64 *b, u32 n) { u64 s; asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(at(b)), "r"(n) : "memory"); return s; }
A u64 mb_drop(u64 *b) { u64 s; asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(at(b)) : "memory"); return s; }
A u64 mb_expect(u64 *b, u32 bytes) { u64 s; asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(at(b)), "r"(bytes) : "memory"); return s; }
A void mb_expect_only(u64 *b, u32 bytes) { asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(bytes) : "memory"); }
A void mb_complete(u64 *b, u32 bytes) { asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(bytes) : "memory"); }
A u32 mb_pending(u64 s) { u32 n; asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(s)); return n; }
A u32 mb_test(u64 *b, u64 s) { u32 d; asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(d) : "r"(at(b)), "l"(s) : "memory"); return d; }
A u32 mb_test_parity(u64 *b, u32 parity) { u32 d; asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(d) : "r"(at(b)), "r"(parity) : "memory"); return d; }
A void mb_wait(u64 *b, u32 parity) { asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra AGAIN; }" :: "r"(at(b)), "r"(parity) : "memory"); }
A void mb_wait_state(u64 *b, u64 s) { asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.shared::cta.b64 p, [%0], %1, 1000; @!p bra AGAIN; }" :: "r"(at(b)), "l"(s) : "memory"); }
A void mb_wait_cluster(u64 *b, u32 parity) { asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra AGAIN; }" :: "r"(at(b)), "r"(parity) : "memory"); }
A void mb_inval(u64 *b) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(at(b)) : "memory"); }
A void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
A void init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// ---- copies by lanes ----
template <int N> A void copy_ca(void *to, const void *from) { asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(at(to)), "l"(from), "n"(N) : "memory"); }
A void copy_cg(void *to, const void *from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at(to)), "l"(from) : "memory"); }
template <int N> A void copy_tail(void *to, const void *from, u32 bytes) { asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" :: "r"(at(to)), "l"(from), "n"(N), "r"(bytes) : "memory"); }
A void copy_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
A void copy_arrive(u64 *b) { asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(at(b)) : "memory"); }
A void copy_arrive_more(u64 *b) { asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" :: "r"(at(b)) : "memory"); }

// ---- bulk copies ----
A void bulk_load(void *to, const void *from, u32 bytes, u64 *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(at(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(at(b)) : "memory");
}
A void bulk_multicast(void *to, const void *from, u32 bytes, u64 *b, u16 blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" :: "r"(at(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(at(b)), "h"(blocks) : "memory");
}
// `to` and `b` are addresses of .shared::cluster.
A void bulk_send(u32 to, const void *from, u32 bytes, u32 b) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(to), "r"(at(from)), "r"(bytes), "r"(b) : "memory");
}
A void bulk_store(void *to, const void *from, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(__cvta_generic_to_global(to)), "r"(at(from)), "r"(bytes) : "memory");
}
#define BULK_REDUCE(name, words) \
    A void name(void *to, const void *from, u32 bytes) { \
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." words " [%0], [%1], %2;" :: "l"(__cvta_generic_to_global(to)), "r"(at(from)), "r"(bytes) : "memory"); \
    }
A void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
A void bulk_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
A void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
A void bulk_prefetch(const void *from, u32 bytes) { asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory"); }

// ---- clusters ----
A u32 mapped(const void *p, u32 rank) { u32 a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank)); return a; }
A u32 rank_of(u32 address) { u32 r; asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r) : "r"(address)); return r; }
A u32 my_rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
A u32 far_u32(u32 a) { u32 v; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); return v; }
A float far_f32(u32 a) { float v; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(a) : "memory"); return v; }
A float4 far_f32x4(u32 a) { float4 v; asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(a) : "memory"); return v; }
A void far_store(u32 a, float v) { asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(a), "f"(v) : "memory"); }
A u32 far_add(u32 a, u32 v) { u32 old; asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(a), "r"(v) : "memory"); return old; }
A void far_red(u32 a, u32 v) { asm volatile("red.shared::cluster.add.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory"); }
A void far_arrive(u32 b) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(b) : "memory"); }
A void far_expect(u32 b, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" :: "r"(b), "r"(bytes) : "memory"); }
A void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
A void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
A void cluster_sync() { cluster_arrive(); cluster_wait(); }
