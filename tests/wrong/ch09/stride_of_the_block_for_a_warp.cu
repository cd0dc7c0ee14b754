// VERDICT: WRONG
// MISTAKE: stride-of-the-block-for-a-warp - what a warp and a block share moves on by four blocks, also for a warp
// DIAGNOSIS: none
#include "warpbook.cuh"

template <typename T> __device__ T over_warp(T x) {
    x += __shfl_down_sync(0xffffffff, x, 16);
    x += __shfl_down_sync(0xffffffff, x, 8);
    x += __shfl_down_sync(0xffffffff, x, 4);
    x += __shfl_down_sync(0xffffffff, x, 2);
    x += __shfl_down_sync(0xffffffff, x, 1);
    return x;
}

__device__ float over_block(float x) {
    __shared__ float slot[32];
    x = over_warp(x);
    if (threadIdx.x % 32 == 0) {
        slot[threadIdx.x / 32] = x;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        x = over_warp(threadIdx.x < blockDim.x / 32 ? slot[threadIdx.x] : 0.0f);
    }
    return x;
}

__device__ float added(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__device__ float share_of(const float *row, int columns, int me, int team) {
    int before = min((int)((16 - (size_t)row % 16) % 16 / 4), columns);
    int fours = (columns - before) / 4;
    int after = before + 4 * fours;
    const float4 *wide = (const float4 *)(row + before);

    float x = me < before ? row[me] : 0.0f;
    int k = me;
    for (; k + 3 * team < fours; k += 4 * blockDim.x) {
        float4 a = wide[k];
        float4 b = wide[k + team];
        float4 c = wide[k + 2 * team];
        float4 d = wide[k + 3 * team];
        x += (added(a) + added(b)) + (added(c) + added(d));
    }
    for (; k < fours; k += team) {
        x += added(wide[k]);
    }
    return after + me < columns ? x + row[after + me] : x;
}

LAUNCH(row_sums_block) {
    launch->block = 128;
    launch->grid = rows;
}

__global__ void row_sums_block(const float *in, float *out, int rows, int columns) {
    long long row = blockIdx.x;
    float x = over_block(share_of(in + row * columns, columns, threadIdx.x, blockDim.x));
    if (threadIdx.x == 0) {
        out[row] = x;
    }
}

LAUNCH(row_sums_warp) {
    launch->block = 256;
    launch->grid = ceil_div(rows, 8);
}

__global__ void row_sums_warp(const float *in, float *out, int rows, int columns) {
    long long row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float x = over_warp(share_of(in + row * columns, columns, lane, 32));
        if (lane == 0) {
            out[row] = x;
        }
    }
}

LAUNCH(row_sums_double) {
    launch->block = 256;
    launch->grid = ceil_div(rows, 8);
}

__global__ void row_sums_double(const double *in, double *out, int rows, int columns) {
    long long row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    const double *d = in + row * columns;
    int before = (size_t)d % 16 != 0 && columns > 0;
    int twos = (columns - before) / 2;
    const double2 *wide = (const double2 *)(d + before);

    double x = 0.0;
    int k = lane;
    for (; k + 96 < twos; k += 128) {
        double2 p = wide[k], q = wide[k + 32], r = wide[k + 64], s = wide[k + 96];
        x += ((p.x + p.y) + (q.x + q.y)) + ((r.x + r.y) + (s.x + s.y));
    }
    for (; k < twos; k += 32) {
        x += wide[k].x + wide[k].y;
    }
    if (lane == 0 && before == 1) {
        x += d[0];
    }
    if (lane == 31 && before + 2 * twos < columns) {
        x += d[columns - 1];
    }
    x = over_warp(x);
    if (lane == 0) {
        out[row] = x;
    }
}
