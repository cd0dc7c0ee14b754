// Pipelines of copies, mbarriers and clusters for compute_90, as CUDA C++ writes them: right, and in the ways they
// go wrong. Each kernel has its mistakes as a template parameter; tests/test_async_programs.py says what follows.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

enum Mistake { NONE, NO_WAIT, WRONG_PARITY, NO_EXPECT, WRONG_COUNT, NO_RELEASE, NO_SYNC, EARLY_EXIT, NO_FENCE };

// ---- Two stages, filled by one warp and read by the others: cuda::barrier ------------------------------------
template <Mistake mistake> __device__ void stages(const int *in, int *out, int n) {
    __shared__ int tile[2][32];
    __shared__ Barrier full[2], empty[2];
    const int readers = blockDim.x - 32;
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], mistake == WRONG_COUNT ? blockDim.x + 1 : blockDim.x);
            init(&empty[s], blockDim.x);
        }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < n / 32; i++) {
            const int s = i % 2;
            if (i >= 2 && mistake != NO_WAIT) empty[s].arrive_and_wait();
            tile[s][threadIdx.x] = in[i * 32 + threadIdx.x];
            (void)full[s].arrive();
        }
    } else {
        int sum = 0;
        for (int i = 0; i < n / 32; i++) {
            const int s = i % 2;
            full[s].arrive_and_wait();
            for (int k = 0; k < 32; k++) sum += tile[s][k] * (k ^ (threadIdx.x & 31));
            if (i + 2 < n / 32 && mistake != NO_RELEASE) (void)empty[s].arrive();
        }
        out[blockIdx.x * readers + threadIdx.x - 32] = sum;
    }
}

// ---- A ring of bulk copies: cuda::ptx -----------------------------------------------------------------------
enum { STAGES = 3, CHUNK = 128 };

__device__ void wait(uint64_t *bar, uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {}
}

template <Mistake mistake> __device__ void ring(const int *in, int *out, int n) {
    __shared__ alignas(128) int tile[STAGES][CHUNK];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int chunks = n / CHUNK;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], mistake == WRONG_COUNT ? CHUNK - 1 : CHUNK);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (threadIdx.x == CHUNK) {
        for (int i = 0; i < chunks; i++) {
            const int s = i % STAGES;
            if (i >= STAGES && mistake != NO_RELEASE) wait(&empty[s], i / STAGES - 1 & 1);
            if (mistake == NO_EXPECT)
                (void)ptx::mbarrier_arrive(&full[s]);
            else
                (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                                     sizeof tile[s]);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[s], in + i * CHUNK, sizeof tile[s],
                               &full[s]);
        }
    } else if (threadIdx.x < CHUNK) {
        int sum = 0;
        for (int i = 0; i < chunks; i++) {
            const int s = i % STAGES;
            if (mistake != NO_WAIT) wait(&full[s], (i / STAGES ^ (mistake == WRONG_PARITY)) & 1);
            sum = sum * 3 + tile[s][CHUNK - 1 - threadIdx.x];
            (void)ptx::mbarrier_arrive(&empty[s]);
        }
        out[threadIdx.x] = sum;
    }
}

// ---- A tile that is changed and stored by a bulk copy -------------------------------------------------------
template <Mistake mistake> __device__ void store(const int *in, int *out, int n) {
    __shared__ alignas(128) int tile[2][128];
    for (int i = 0; i < n / 128; i++) {
        int *mine = tile[i % 2];
        if (threadIdx.x == 0 && mistake != NO_WAIT) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
        __syncthreads();
        mine[threadIdx.x] = in[i * 128 + threadIdx.x] * 2;
        if (mistake != NO_FENCE) ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + i * 128, mine, sizeof tile[0]);
            ptx::cp_async_bulk_commit_group();
        }
    }
    if (threadIdx.x == 0 && mistake != EARLY_EXIT) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// ---- The sum of a cluster, by distributed shared memory -----------------------------------------------------
template <Mistake mistake> __device__ void total(const int *in, int *out, int n) {
    __shared__ int part;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    int sum = 0;
    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) sum += in[i];
    atomicAdd(&part, sum);
    if (mistake == NO_SYNC)
        __syncthreads();
    else
        cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int all = 0;
        for (unsigned k = 0; k < cluster.num_blocks(); k++) all += *cluster.map_shared_rank(&part, k);
        out[0] = all;
    }
    if (mistake != EARLY_EXIT) cluster.sync();
}

#define K(name, attributes, function, mistake)                                                                \
    extern "C" __global__ void attributes name(const int *in, int *out, int n) { function<mistake>(in, out, n); }
K(stages_right, , stages, NONE)
K(stages_no_wait, , stages, NO_WAIT)
K(stages_wrong_count, , stages, WRONG_COUNT)
K(stages_no_release, , stages, NO_RELEASE)
K(ring_right, , ring, NONE)
K(ring_no_wait, , ring, NO_WAIT)
K(ring_wrong_parity, , ring, WRONG_PARITY)
K(ring_no_expect, , ring, NO_EXPECT)
K(ring_wrong_count, , ring, WRONG_COUNT)
K(ring_no_release, , ring, NO_RELEASE)
K(store_right, , store, NONE)
K(store_no_wait, , store, NO_WAIT)
K(store_early_exit, , store, EARLY_EXIT)
K(store_no_fence, , store, NO_FENCE)
K(total_right, __cluster_dims__(4), total, NONE)
K(total_no_sync, __cluster_dims__(4), total, NO_SYNC)
K(total_early_exit, __cluster_dims__(4), total, EARLY_EXIT)
