// RIGHT: plain - one group of 16 bytes a round in every thread
#include "warpbook.cuh"

template <typename Number> __device__ Number sum_of_warp(Number value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

__device__ float sum_of_block(float value) {
    __shared__ float sum_of[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    value = sum_of_warp(value);
    if (lane == 0) {
        sum_of[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(lane < blockDim.x / 32 ? sum_of[lane] : 0.0f);
    }
    return value;
}

__device__ float sum_of_share(const float *row, int columns, int thread, int threads) {
    int head = min((4 - (int)((size_t)row / 4 % 4)) % 4, columns);
    int groups = (columns - head) / 4;
    int tail = head + 4 * groups;
    const float4 *group = (const float4 *)(row + head);
    float sum = 0.0f;
    for (int i = thread; i < groups; i += threads) {
        float4 four = group[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    if (thread < head) {
        sum += row[thread];
    }
    if (thread < columns - tail) {
        sum += row[tail + thread];
    }
    return sum;
}

LAUNCH(row_sums_block) {
    launch->block = 256;
    launch->grid = rows;
}

__global__ void row_sums_block(const float *in, float *out, int rows, int columns) {
    const float *row = in + (long long)blockIdx.x * columns;
    float sum = sum_of_block(sum_of_share(row, columns, threadIdx.x, blockDim.x));
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}

LAUNCH(row_sums_warp) {
    launch->block = 256;
    launch->grid = ceil_div(rows, 8);
}

__global__ void row_sums_warp(const float *in, float *out, int rows, int columns) {
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;
    }
    float sum = sum_of_warp(sum_of_share(in + (long long)row * columns, columns, lane, 32));
    if (lane == 0) {
        out[row] = sum;
    }
}

LAUNCH(row_sums_double) {
    launch->block = 256;
    launch->grid = ceil_div(rows, 8);
}

__global__ void row_sums_double(const double *in, double *out, int rows, int columns) {
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;
    }
    const double *start = in + (long long)row * columns;
    int head = min((int)((size_t)start / 8 % 2), columns);
    int pairs = (columns - head) / 2;
    const double2 *pair = (const double2 *)(start + head);
    double sum = 0.0;
    for (int i = lane; i < pairs; i += 32) {
        sum += pair[i].x + pair[i].y;
    }
    if (lane < head) {
        sum += start[0];
    }
    if (lane == 0 && head + 2 * pairs < columns) {
        sum += start[columns - 1];
    }
    sum = sum_of_warp(sum);
    if (lane == 0) {
        out[row] = sum;
    }
}
