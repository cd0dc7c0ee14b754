// Barriers, warp-wide operations and cooperative groups. tests/test_sync.py says what they must give.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(const int *__restrict__ in, int *__restrict__ out)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define T ((int)threadIdx.x)

KERNEL(counting_barriers) {
    int x = in[I];
    int count = __syncthreads_count(x & 1);
    int all = __syncthreads_and(x & 14), any = __syncthreads_or(x == 77);
    out[I] = count * 100 + (all ? 10 : 0) + (any ? 1 : 0);
}

// Two halves of a block, a ring of one slot: full and empty are barriers 1 and 2.
KERNEL(producer_consumer) {
    __shared__ int slot[64];
    int half = blockDim.x / 2, t = T % half, sum = 0;
    if (T < half) {
        for (int k = 0; k < 5; k++) {
            if (k) asm volatile("barrier.sync 2, 128;" ::: "memory");
            slot[t] = in[I] + k;
            asm volatile("barrier.arrive 1, 128;" ::: "memory");
        }
    } else {
        for (int k = 0; k < 5; k++) {
            asm volatile("barrier.sync 1, 128;" ::: "memory");
            sum = sum * 3 + slot[half - 1 - t];
            if (k < 4) asm volatile("barrier.arrive 2, 128;" ::: "memory");
        }
    }
    out[I] = sum;
}

// Warps in pairs, each pair with a barrier of its own; the last warp is not full.
KERNEL(barriers_by_number) {
    __shared__ int s[128];
    int pair = T / 64;
    s[T] = in[I];
    if (pair == 0) asm volatile("bar.sync 3, 64;" ::: "memory");
    else asm volatile("bar.sync %0, 64;" ::"r"(4 + pair) : "memory");
    int other = T ^ 32;
    out[I] = other < (int)blockDim.x ? s[other] : -1;
}

KERNEL(threads_gone) { // the rest of the block goes on through barriers that others will never reach
    __shared__ int s[96];
    s[T] = in[I];
    if (T % 3 == 0) { out[I] = -3; return; }
    __syncthreads();
    if (T >= 64) { out[I] = -64; return; }
    int v = s[T + 32];
    __syncthreads();
    out[I] = v;
}

KERNEL(syncwarp_in_branches) {
    __shared__ volatile int s[64];
    int lane = T % 32;
    s[T] = in[I];
    __syncwarp();
    int v;
    if (lane & 1) {
        unsigned mask = 0xaaaaaaaau;
        v = s[T ^ 2];
        __syncwarp(mask);
        s[T] = v + 1;
        __syncwarp(mask);
        v = s[T ^ 4];
    } else {
        unsigned mask = 0x55555555u;
        v = s[T ^ 8] * 2;
        __syncwarp(mask);
        s[T] = v;
        __syncwarp(mask);
        v = s[T ^ 2];
    }
    __syncwarp();
    out[I] = v;
}

KERNEL(one_mask_two_places) {
    int v = in[I], r;
    if (v & 1) r = 1000 + __shfl_xor_sync(~0u, v, 1);
    else r = 2000 + __shfl_xor_sync(~0u, v, 3);
    out[I] = r;
}

KERNEL(tiles) {
    auto block = cg::this_thread_block();
    auto t4 = cg::tiled_partition<4>(block);
    auto t16 = cg::tiled_partition<16>(block);
    int v = in[I];
    for (int d = 2; d; d /= 2) v += t4.shfl_xor(v, d);
    int top = t16.shfl(v, 15), any = t16.any(v % 5 == 0), all = t4.all(v > 50);
    t16.sync();
    out[I] = v + 1000 * any + 2000 * all + 10000 * (top & 7) + (int)t16.thread_rank();
}

KERNEL(coalesced) {
    int v = in[I], r = -1;
    if (v & 1) {
        auto active = cg::coalesced_threads();
        int rank = (int)active.thread_rank(), size = (int)active.num_threads();
        r = active.shfl(v, size - 1) * 1000 + rank * 32 + size;
        active.sync();
    }
    out[I] = r;
}

// Every block adds to what all blocks wrote before the barrier of the grid; `scratch` is behind `out`.
extern "C" __global__ void grid_sync(const int *in, int *out) {
    cg::grid_group grid = cg::this_grid();
    int n = (int)(gridDim.x * blockDim.x);
    int *scratch = out + n;
    scratch[I] = in[I];
    grid.sync();
    int v = scratch[(I + blockDim.x) % n] + scratch[n - 1 - I];
    grid.sync();
    scratch[I] = v;
    grid.sync();
    out[I] = scratch[(I * 7) % n];
}

// ---- Barriers that not all threads execute ----
KERNEL(barrier_of_one_warp) {
    __shared__ int s[128];
    s[T] = in[I];
    if (T < 32) {
        __syncthreads();
        out[I] = s[T];
    }
}
KERNEL(barrier_after_a_return) {
    __shared__ int s[128];
    s[T] = in[I];
    if (T >= 40) return;
    __syncthreads();
    out[I] = s[T];
}
KERNEL(barrier_of_some_lanes) {
    __shared__ int s[128];
    s[T] = in[I];
    if (T % 2 == 0)
        __syncthreads();
    out[I] = s[T];
}
KERNEL(barriers_of_two_branches) {
    __shared__ int s[128];
    s[T] = in[I];
    if (T < 32) {
        __syncthreads();
        out[I] = s[T + 32] + 1;
    } else {
        __syncthreads();
        out[I] = s[T - 32] - 1;
    }
}
KERNEL(barrier_of_all_in_a_loop) {
    __shared__ int s[128];
    int sum = 0;
    for (int k = 0; k < 9; k++) {
        s[T] = in[I] + k;
        __syncthreads();
        sum += s[T ^ 1];
        __syncthreads();
    }
    out[I] = sum;
}

// ---- What must be found ----
KERNEL(divergent_barriers) {
    if (T & 1) { out[I] = in[I]; __syncthreads(); out[I] += 1; }
    else { __syncthreads(); out[I] = in[I] - 1; }
}
KERNEL(barrier_not_reached) {
    __shared__ int s[64];
    s[T] = in[I];
    if (T >= 32) { // a whole warp waits; the other waits at another barrier for it
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[I] = s[T ^ 32];
}
KERNEL(names_an_exited_lane) {
    if (T % 32 == 5) return;
    out[I] = __shfl_down_sync(~0u, in[I], 1);
}
extern "C" __global__ void names_a_lane_long_gone(const int *in, int *out) {
    if (T % 32 == 5) asm volatile("exit;");
    __threadfence();
    out[I] = __shfl_down_sync(~0u, in[I], 1);
}
KERNEL(lane_leaves_others_waiting) {
    int v = in[I];
    if (T % 32 == 9) { out[I] = 1; return; }
    out[I] = __ballot_sync(~0u, v & 1);
}
KERNEL(reads_an_inactive_lane) {
    if (T % 32 < 16) out[I] = __shfl_down_sync(0xffffu, in[I], 8);
}
KERNEL(not_in_its_mask) {
    unsigned mask = 0xffu;
    asm volatile("" : "+r"(mask));
    out[I] = __any_sync(mask, in[I]);
}
KERNEL(masks_that_differ) {
    unsigned mask = T % 32 == 3 ? 0xffffffffu : 0x7fffffffu | (T % 32 == 31 ? 0x80000000u : 0u);
    out[I] = __ballot_sync(mask, in[I] & 1);
}
KERNEL(waits_for_a_lane_elsewhere) {
    if (T < 16) out[I] = __any_sync(0xffffffffu, in[I]);
    out[I] += __shfl_sync(~0u, in[I], 3);
}
