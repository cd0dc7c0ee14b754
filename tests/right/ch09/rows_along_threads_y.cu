// RIGHT: rows-along-threads-y - one template for floats and doubles; blocks of 32 x 8 with a row for each threadIdx.y
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "warpbook.cuh"

namespace cg = cooperative_groups;

template <typename Number> struct Wide;
template <> struct Wide<float> {
    using type = float4;
    static __device__ float across(float4 v) { return (v.x + v.y) + (v.z + v.w); }
};
template <> struct Wide<double> {
    using type = double2;
    static __device__ double across(double2 v) { return v.x + v.y; }
};

// What thread `rank` of `size` adds of a row.
template <typename Number> __device__ Number share_of(const Number *row, unsigned columns, unsigned rank, unsigned size) {
    using Group = typename Wide<Number>::type;
    constexpr unsigned PER = sizeof(Group) / sizeof(Number);
    const unsigned off = (unsigned)((size_t)row / sizeof(Number) % PER);
    const unsigned head = min(off == 0 ? 0u : PER - off, columns);
    const unsigned groups = (columns - head) / PER;
    const Group *group = reinterpret_cast<const Group *>(row + head);

    Number sum[4] = {};
    unsigned i = rank;
    for (; i + 3 * size < groups; i += 4 * size) {
        Group four[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            four[k] = group[i + k * size];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            sum[k] += Wide<Number>::across(four[k]);
        }
    }
    for (; i < groups; i += size) {
        sum[0] += Wide<Number>::across(group[i]);
    }
    if (rank < head) {
        sum[1] += row[rank];
    }
    const unsigned behind = head + groups * PER + rank;
    if (behind < columns) {
        sum[2] += row[behind];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

LAUNCH(row_sums_block) {
    launch->block = dim3(32, 4);
    launch->grid = rows;
}

__global__ void row_sums_block(const float *in, float *out, int rows, int columns) {
    __shared__ float of_warp[4];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const float *row = in + (size_t)blockIdx.x * columns;
    float sum = share_of(row, columns, block.thread_rank(), 128);
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (threadIdx.x == 0) {
        of_warp[threadIdx.y] = sum;
    }
    block.sync();
    if (block.thread_rank() == 0) {
        out[blockIdx.x] = (of_warp[0] + of_warp[1]) + (of_warp[2] + of_warp[3]);
    }
}

template <typename Number> __device__ void a_warp_a_row(const Number *in, Number *out, int rows, int columns) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row < rows) { // the same for the whole warp
        Number sum = share_of(in + row * columns, columns, warp.thread_rank(), 32);
        sum = cg::reduce(warp, sum, cg::plus<Number>());
        if (warp.thread_rank() == 0) {
            out[row] = sum;
        }
    }
}

LAUNCH(row_sums_warp) {
    launch->block = dim3(32, 8);
    launch->grid = ceil_div(rows, 8);
}

__global__ void row_sums_warp(const float *in, float *out, int rows, int columns) {
    a_warp_a_row(in, out, rows, columns);
}

LAUNCH(row_sums_double) {
    launch->block = dim3(32, 8);
    launch->grid = ceil_div(rows, 8);
}

__global__ void row_sums_double(const double *in, double *out, int rows, int columns) {
    a_warp_a_row(in, out, rows, columns);
}
