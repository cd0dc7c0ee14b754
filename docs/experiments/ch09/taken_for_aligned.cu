// EXPERIMENT: The kernel assumes that every row begins at a multiple of 16 bytes.
// RUN: ./ch09 --device emulator --kernel $PTX
// SHOWS: MISALIGNED
#include "warpbook.cuh"

template <typename Number> __device__ void by_one_thread(const Number *in, Number *out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        Number sum = 0;
        for (int i = 0; i < columns; i++) {
            sum += in[(long long)row * columns + i];
        }
        out[row] = sum;
    }
}

LAUNCH(row_sums_block) {
    launch->block = 32;
    launch->grid = max(1, ceil_div(rows, 32));
}

__global__ void row_sums_block(const float *in, float *out, int rows, int columns) {
    by_one_thread(in, out, rows, columns);
}

LAUNCH(row_sums_warp) {
    launch->block = 32;
    launch->grid = max(1, ceil_div(rows, 32));
}

__global__ void row_sums_warp(const float *in, float *out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        const float *start = in + (long long)row * columns;
        const float4 *group = (const float4 *)start;
        float sum = 0.0f;
        for (int i = 0; i < columns / 4; i++) {
            float4 v = group[i];
            sum += v.x + v.y + v.z + v.w;
        }
        for (int i = columns / 4 * 4; i < columns; i++) {
            sum += start[i];
        }
        out[row] = sum;
    }
}

LAUNCH(row_sums_double) {
    launch->block = 32;
    launch->grid = max(1, ceil_div(rows, 32));
}

__global__ void row_sums_double(const double *in, double *out, int rows, int columns) {
    by_one_thread(in, out, rows, columns);
}
