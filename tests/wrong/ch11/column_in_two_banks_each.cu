// VERDICT: SLOW
// MISTAKE: column-in-half-of-the-banks - the columns of the tile change places by the last four bits of the row alone
// DIAGNOSIS: banks-shared
// Chapter 11: transpose.
#include "warpbook.cuh"

const int T = 32;

LAUNCH(transpose_naive) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));
}

__global__ void transpose_naive(const float *in, float *out, int rows, int columns) {
    long long j = blockIdx.x * blockDim.x + threadIdx.x;
    long long i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < columns) {
        out[j * rows + i] = in[i * columns + j];
    }
}

LAUNCH(transpose_tile) {
    launch->block = dim3(T, T);
    launch->grid = dim3(ceil_div(columns, T), ceil_div(rows, T));
}

__global__ void transpose_tile(const float *in, float *out, int rows, int columns) {
    __shared__ float part[T * T];
    int lane = threadIdx.x, line = threadIdx.y;
    int i = blockIdx.y * T, j = blockIdx.x * T;
    if (i + line < rows && j + lane < columns) {
        part[line * T + lane] = in[(long long)(i + line) * columns + j + lane];
    }
    __syncthreads();
    if (i + lane < rows && j + line < columns) {
        out[(long long)(j + line) * rows + i + lane] = part[lane * T + line];
    }
}

LAUNCH(transpose_padded) {
    launch->block = dim3(T, T);
    launch->grid = dim3(ceil_div(columns, T), ceil_div(rows, T));
}

// Where element (i, j) of the tile is: its columns change places in each row.
__device__ int place(int i, int j) {
    return i * T + (j ^ i % 16);
}

__global__ void transpose_padded(const float *in, float *out, int rows, int columns) {
    __shared__ float part[T * T];
    int lane = threadIdx.x, line = threadIdx.y;
    int i = blockIdx.y * T, j = blockIdx.x * T;
    if (i + line < rows && j + lane < columns) {
        part[place(line, lane)] = in[(long long)(i + line) * columns + j + lane];
    }
    __syncthreads();
    if (i + lane < rows && j + line < columns) {
        out[(long long)(j + line) * rows + i + lane] = part[place(lane, line)];
    }
}

const int BIG = 64;

LAUNCH(transpose_several) {
    launch->block = dim3(BIG, 8);
    launch->grid = dim3(ceil_div(rows, BIG), ceil_div(columns, BIG));
}

__global__ void transpose_several(const float *in, float *out, int rows, int columns) {
    __shared__ float part[BIG][BIG + 1];
    int lane = threadIdx.x, line = threadIdx.y;
    int i = blockIdx.x * BIG, j = blockIdx.y * BIG;
    float value[8];
    const float *from = in + (long long)(i + line) * columns + (j + lane);
    for (int e = 0; e < 8; e++) {
        value[e] = 0.0f;
        if (i + line + 8 * e < rows && j + lane < columns) {
            value[e] = from[8ll * e * columns];
        }
    }
    for (int e = 0; e < 8; e++) {
        part[line + 8 * e][lane] = value[e];
    }
    __syncthreads();
    float *to = out + (long long)(j + line) * rows + (i + lane);
    for (int e = 0; e < 8; e++) {
        if (j + line + 8 * e < columns && i + lane < rows) {
            to[8ll * e * rows] = part[lane][line + 8 * e];
        }
    }
}
