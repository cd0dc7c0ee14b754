// RIGHT: cub-and-acq-rel-ticket - cub::BlockReduce for both folds, and a ticket with acquire and release; tiles are dealt out in turn
#include <cub/block/block_reduce.cuh>
#include <cuda/atomic>

#include "warpbook.cuh"

constexpr int BLOCK = 512;
constexpr int DEEP = 8;                  // float4 of a thread under way
constexpr long long TILE = BLOCK * DEEP; // groups of four

LAUNCH(sum) {
    launch->block = BLOCK;
    launch->grid = max(1, min(ceil_div(n, 4 * TILE), 4 * gpu->sm_count));
}

// in: n floats. out: one float, their sum. mailbox: 64 bits for each block, 0 before and after the launch. The lower half
// of a block's place takes its sum; the upper half of the first place counts.
__global__ void __launch_bounds__(BLOCK, 2) sum(const float *in, float *out, unsigned long long *mailbox, size_t n) {
    using Fold = cub::BlockReduce<float, BLOCK>;
    __shared__ typename Fold::TempStorage storage;
    __shared__ bool is_last;

    const long long length = n;
    const long long off = (long long)((size_t)in / 4 % 4);
    const long long head = off == 0 ? 0 : (4 - off < length ? 4 - off : length);
    const long long groups = (length - head) / 4;
    const long long behind = head + 4 * groups;
    const float4 *group = reinterpret_cast<const float4 *>(in + head);
    const long long thread = (long long)blockIdx.x * BLOCK + threadIdx.x;

    float part[4] = {};
    for (long long tile = blockIdx.x * TILE; tile < groups; tile += gridDim.x * TILE) {
        const float4 *at = group + tile + threadIdx.x;
        float4 four[DEEP];
        if (tile + TILE <= groups) {
#pragma unroll
            for (int k = 0; k < DEEP; k++) {
                four[k] = __ldcs(at + k * BLOCK);
            }
        } else {
            const long long left = groups - tile - threadIdx.x;
#pragma unroll
            for (int k = 0; k < DEEP; k++) {
                four[k] = k * BLOCK < left ? __ldcs(at + k * BLOCK) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            }
        }
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            part[0] += four[k].x;
            part[1] += four[k].y;
            part[2] += four[k].z;
            part[3] += four[k].w;
        }
    }
    if (thread < head) {
        part[0] += in[thread];
    }
    if (behind + thread < length) {
        part[1] += in[behind + thread];
    }
    const float sum = Fold(storage).Sum((part[0] + part[1]) + (part[2] + part[3]));

    float *const sums = reinterpret_cast<float *>(mailbox);
    if (threadIdx.x == 0) {
        sums[2 * blockIdx.x] = sum;
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(reinterpret_cast<unsigned *>(mailbox)[1]);
        is_last = count.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) { // the same for the whole block
        float total = 0.0f;
        for (unsigned i = threadIdx.x; i < gridDim.x; i += BLOCK) {
            total += sums[2 * i];
            sums[2 * i] = 0.0f;
        }
        total = Fold(storage).Sum(total); // behind a barrier: the storage is free again
        if (threadIdx.x == 0) {
            out[0] = total;
            reinterpret_cast<unsigned *>(mailbox)[1] = 0;
        }
    }
}
