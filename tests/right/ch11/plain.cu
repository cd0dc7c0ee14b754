// RIGHT: plain - tiles of 32 x 32 in all tasks, indices of 32 bits
#include "warpbook.cuh"

LAUNCH(transpose_naive) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));
}

__global__ void transpose_naive(const float *in, float *out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        out[(long long)column * rows + row] = in[(long long)row * columns + column];
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
        tile[threadIdx.y][threadIdx.x] = in[(long long)row * columns + column];
    }
    __syncthreads();
    int out_column = blockIdx.y * 32 + threadIdx.x;
    int out_row = blockIdx.x * 32 + threadIdx.y;
    if (out_row < columns && out_column < rows) {
        out[(long long)out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
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
        tile[threadIdx.y][threadIdx.x] = in[(long long)row * columns + column];
    }
    __syncthreads();
    int out_column = blockIdx.y * 32 + threadIdx.x;
    int out_row = blockIdx.x * 32 + threadIdx.y;
    if (out_row < columns && out_column < rows) {
        out[(long long)out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];
    }
}

LAUNCH(transpose_several) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 32));
}

__global__ void transpose_several(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        if (row + k < rows && column < columns) {
            tile[threadIdx.y + k][threadIdx.x] = in[(long long)(row + k) * columns + column];
        }
    }
    __syncthreads();
    int out_column = blockIdx.y * 32 + threadIdx.x;
    int out_row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) {
        if (out_row + k < columns && out_column < rows) {
            out[(long long)(out_row + k) * rows + out_column] = tile[threadIdx.x][threadIdx.y + k];
        }
    }
}
