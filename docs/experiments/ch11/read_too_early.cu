// EXPERIMENT: The tile is read before all of it has been written.
// RUN: ./ch11 --device emulator --kernel $PTX
// SHOWS: RACE
#include "warpbook.cuh"

__device__ void one_by_one(const float *in, float *out, int rows, int columns) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)rows * columns) {
        out[i % columns * rows + i / columns] = in[i];
    }
}

LAUNCH(transpose_naive) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(rows * columns, 256));
}

__global__ void transpose_naive(const float *in, float *out, int rows, int columns) {
    one_by_one(in, out, rows, columns);
}

LAUNCH(transpose_tile) {
    launch->block = dim3(32, 32);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 32));
}

__global__ void transpose_tile(const float *in, float *out, int rows, int columns) {
    __shared__ float part[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    int i = 32 * blockIdx.y, j = 32 * blockIdx.x; // the corner of the tile
    if (i + y < rows && j + x < columns) {
        part[y][x] = in[(i + y) * columns + j + x];
    }
    if (j + y < columns && i + x < rows) {
        out[(j + y) * rows + i + x] = part[x][y]; // written by another warp
    }
}

LAUNCH(transpose_padded) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(rows * columns, 256));
}

__global__ void transpose_padded(const float *in, float *out, int rows, int columns) {
    one_by_one(in, out, rows, columns);
}

LAUNCH(transpose_several) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(rows * columns, 256));
}

__global__ void transpose_several(const float *in, float *out, int rows, int columns) {
    one_by_one(in, out, rows, columns);
}
