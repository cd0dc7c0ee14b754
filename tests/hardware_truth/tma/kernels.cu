// What tensor copies (cp.async.bulk.tensor and its kin) move, for compute_90. Every kernel takes a tensor map, its rank and a
// place in the tensor. record.cu launches them on a GPU and tensor_copy_cases.py on the emulator.
#include "../async.h"
#define T threadIdx.x

struct __align__(64) Map { u64 words[16]; };
struct Place { int c[5]; };

#define COORDINATES_1 "{%1}"
#define COORDINATES_2 "{%1, %2}"
#define COORDINATES_3 "{%1, %2, %3}"
#define COORDINATES_4 "{%1, %2, %3, %4}"
#define COORDINATES_5 "{%1, %2, %3, %4, %5}"
#define PLACE(p) "r"(p.c[0]), "r"(p.c[1]), "r"(p.c[2]), "r"(p.c[3]), "r"(p.c[4])
#define EACH_RANK(X, ...) \
    switch (rank) { \
    case 1: X(1, __VA_ARGS__); break; \
    case 2: X(2, __VA_ARGS__); break; \
    case 3: X(3, __VA_ARGS__); break; \
    case 4: X(4, __VA_ARGS__); break; \
    default: X(5, __VA_ARGS__); break; \
    }
#define LOAD(n, words, more) \
    asm volatile("cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" words " [%6], [%0, " COORDINATES_##n "], [%7]" more ";" \
                 :: "l"(&map), PLACE(place), "r"(at(s)), "r"(at(&b)), "h"((u16)blocks) : "memory")
#define PREFETCH(n, words) asm volatile("cp.async.bulk.prefetch.tensor." #n "d.L2.global.tile" words " [%0, " COORDINATES_##n "];" :: "l"(&map), PLACE(place) : "memory")
#define STORE(n, words) asm volatile("cp." words ".tensor." #n "d.global.shared::cta" HOW " [%0, " COORDINATES_##n "], [%6];" :: "l"(&map), PLACE(place), "r"(at(s)) : "memory")

// A wait that ends even if the bytes never come, which the last word then tells.
A void wait_for(u64 *b, u32 *s, u32 words) {
    for (int i = 0; i < 1000000; i++)
        if (mb_test_parity(b, 0)) return;
    s[words - 1] = 0xdeaddead;
}

// Writes the `words` words that hold the box of `bytes` bytes, and what was there before around it.
extern "C" __global__ void load(const __grid_constant__ Map map, u32 rank, Place place, u32 bytes, u32 words, u32 *__restrict__ out) {
    extern __shared__ __align__(1024) u32 s[];
    __shared__ u64 b;
    const u32 blocks = 0;
    for (u32 i = T; i < words; i += 64) s[i] = 0xeeeeeeee;
    if (!T) mb_init(&b, 1);
    proxy_fence();
    __syncthreads();
    if (!T) {
        asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
        EACH_RANK(PREFETCH, "")
        mb_expect(&b, bytes);
        EACH_RANK(LOAD, "", "")
    }
    wait_for(&b, s, words);
    __syncthreads();
    for (u32 i = T; i < words; i += 64) out[i] = s[i];
}

// The first of four blocks loads for those of `blocks`, which write the box one behind the other.
extern "C" __global__ void __cluster_dims__(4, 1, 1) load_for_cluster(const __grid_constant__ Map map, u32 rank, Place place, u32 bytes, u32 words, u32 *__restrict__ out, u32 blocks) {
    extern __shared__ __align__(1024) u32 s[];
    __shared__ u64 b;
    const u32 me = my_rank();
    for (u32 i = T; i < words; i += 64) s[i] = 0xeeeeeeee;
    if (!T) { mb_init(&b, 1); init_fence(); }
    proxy_fence();
    cluster_sync();
    const bool gets = blocks >> me & 1;
    if (!T && gets) mb_expect(&b, bytes);
    if (!T && !me) { EACH_RANK(LOAD, ".multicast::cluster", ", %8") }
    if (gets) wait_for(&b, s, words);
    cluster_sync();
    for (u32 i = T; i < words; i += 64) out[me * words + i] = s[i];
}

#define HOW ".tile.bulk_group"
// Stores what `in` holds, or adds it by operation `kind`.
extern "C" __global__ void store(const __grid_constant__ Map map, u32 rank, Place place, u32 kind, u32 words, const u32 *__restrict__ in) {
    extern __shared__ __align__(1024) u32 s[];
    for (u32 i = T; i < words; i += 64) s[i] = in[i];
    proxy_fence();
    __syncthreads();
    if (T) return;
    if (!kind) { EACH_RANK(STORE, "async.bulk") }
#undef HOW
#define HOW ".add.tile.bulk_group"
    if (kind == 1) { EACH_RANK(STORE, "reduce.async.bulk") }
#undef HOW
#define HOW ".min.tile.bulk_group"
    if (kind == 2) { EACH_RANK(STORE, "reduce.async.bulk") }
#undef HOW
#define HOW ".max.tile.bulk_group"
    if (kind == 3) { EACH_RANK(STORE, "reduce.async.bulk") }
#undef HOW
#define HOW ".inc.tile.bulk_group"
    if (kind == 4) { EACH_RANK(STORE, "reduce.async.bulk") }
#undef HOW
#define HOW ".dec.tile.bulk_group"
    if (kind == 5) { EACH_RANK(STORE, "reduce.async.bulk") }
#undef HOW
#define HOW ".and.tile.bulk_group"
    if (kind == 6) { EACH_RANK(STORE, "reduce.async.bulk") }
#undef HOW
#define HOW ".or.tile.bulk_group"
    if (kind == 7) { EACH_RANK(STORE, "reduce.async.bulk") }
#undef HOW
#define HOW ".xor.tile.bulk_group"
    if (kind == 8) { EACH_RANK(STORE, "reduce.async.bulk") }
    bulk_commit();
    bulk_wait();
}
