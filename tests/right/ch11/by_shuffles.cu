// RIGHT: by-shuffles - a warp turns 32 x 32 elements over in registers, without shared memory
#include "warpbook.cuh"

LAUNCH(transpose_naive) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));
}

__global__ void transpose_naive(const float *in, float *out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        out[column * rows + row] = in[row * columns + column];
    }
}

LAUNCH(transpose_tile) {
    launch->block = dim3(32, 32);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 32));
}

__global__ void transpose_tile(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    }
    __syncthreads();
    int out_column = blockIdx.y * 32 + threadIdx.x;
    int out_row = blockIdx.x * 32 + threadIdx.y;
    if (out_row < columns && out_column < rows) {
        out[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}

LAUNCH(transpose_padded) {
    launch->block = dim3(32, 32);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 32));
}

__global__ void transpose_padded(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    }
    __syncthreads();
    int out_column = blockIdx.y * 32 + threadIdx.x;
    int out_row = blockIdx.x * 32 + threadIdx.y;
    if (out_row < columns && out_column < rows) {
        out[out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}

LAUNCH(transpose_several) {
    launch->block = 32;
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 32));
}

__global__ void transpose_several(const float *in, float *out, int rows, int columns) {
    int lane = threadIdx.x;
    int row = blockIdx.y * 32;
    int column = blockIdx.x * 32;
    float value[32]; // value[k]: row k of the tile, this lane's column
    for (int k = 0; k < 32; k++) {
        bool is_inside = row + k < rows && column + lane < columns;
        value[k] = is_inside ? in[(row + k) * columns + column + lane] : 0.0f;
    }
    // Blocks of side 16, 8, 4, 2 and 1 change places across the diagonal.
#pragma unroll
    for (int side = 16; side > 0; side /= 2) {
#pragma unroll
        for (int k = 0; k < 32; k++) {
            if (k & side) {
                continue;
            }
            bool is_lower = lane & side;
            float sent = is_lower ? value[k] : value[k + side];
            float got = __shfl_xor_sync(0xffffffff, sent, side);
            if (is_lower) {
                value[k] = got;
            } else {
                value[k + side] = got;
            }
        }
    }
    for (int k = 0; k < 32; k++) {
        if (column + k < columns && row + lane < rows) {
            out[(column + k) * rows + row + lane] = value[k];
        }
    }
}
