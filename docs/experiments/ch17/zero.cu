// EXPERIMENT: What is outside the image is read at the nearest place within, and multiplied by 0.
// RUN: ./ch17 --device emulator --kernel $PTX
// SHOWS: WRONG
// SHOWS: is NaN; it should be
#include "warpbook.cuh"

__constant__ float weights_3[9], weights_7[49];

__device__ float element(const float *in, int row, int column, int rows, int columns) {
    bool is_inside = row >= 0 && row < rows && column >= 0 && column < columns;
    row = min(max(row, 0), rows - 1);
    column = min(max(column, 0), columns - 1);
    return (is_inside ? 1.0f : 0.0f) * in[(long long)row * columns + column];
}

// A sum of SIDE x SIDE products for each thread.
template <int SIDE>
__device__ void filter(const float *weights, const float *in, float *out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < SIDE * SIDE; k++) {
        sum += weights[k] * element(in, row + k / SIDE - SIDE / 2, column + k % SIDE - SIDE / 2, rows, columns);
    }
    if (row < rows && column < columns) {
        out[(long long)row * columns + column] = sum;
    }
}

// Half of the element and an eighth of each neighbour.
__device__ void stencil(const float *in, float *out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        float neighbours = element(in, row - 1, column, rows, columns) + element(in, row + 1, column, rows, columns) +
                           element(in, row, column - 1, rows, columns) + element(in, row, column + 1, rows, columns);
        out[(long long)row * columns + column] = 0.5f * element(in, row, column, rows, columns) + 0.125f * neighbours;
    }
}

#define KERNEL(name, call)                                                                                   \
    LAUNCH(name) {                                                                                           \
        launch->block = dim3(32, 8);                                                                         \
        launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));                                       \
    }                                                                                                        \
    __global__ void name(const float *in, float *out, int rows, int columns) { call; }

KERNEL(stencil_simple, stencil(in, out, rows, columns))
KERNEL(stencil_tile, stencil(in, out, rows, columns))
KERNEL(filter_constant, filter<7>(weights_7, in, out, rows, columns))
KERNEL(filter_column_3, filter<3>(weights_3, in, out, rows, columns))
KERNEL(filter_column_7, filter<7>(weights_7, in, out, rows, columns))
