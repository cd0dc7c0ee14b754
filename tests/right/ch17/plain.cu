// RIGHT: plain - a column of 32 outputs for each thread
#include "warpbook.cuh"

__constant__ float weights_3[3 * 3];
__constant__ float weights_7[7 * 7];

__device__ float element(const float *in, int row, int column, int rows, int columns) {
    bool is_inside = row >= 0 && row < rows && column >= 0 && column < columns;
    return is_inside ? in[(long long)row * columns + column] : 0.0f;
}

LAUNCH(stencil_simple) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));
}

__global__ void stencil_simple(const float *in, float *out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        float neighbours = element(in, row - 1, column, rows, columns) + element(in, row + 1, column, rows, columns) +
                           element(in, row, column - 1, rows, columns) + element(in, row, column + 1, rows, columns);
        out[(long long)row * columns + column] =
            0.5f * element(in, row, column, rows, columns) + 0.125f * neighbours;
    }
}

template <int HEIGHT, int WIDTH>
__device__ void load_tile(float (&tile)[HEIGHT][WIDTH], const float *in, int top, int left, int rows, int columns) {
    int thread = threadIdx.y * blockDim.x + threadIdx.x, warps = blockDim.x * blockDim.y / 32;
    for (int y = thread / 32; y < HEIGHT; y += warps) {
        for (int x = thread % 32; x < WIDTH; x += 32) {
            tile[y][x] = element(in, top + y, left + x, rows, columns);
        }
    }
}

const int WIDTH = 64, HEIGHT = 16;

LAUNCH(stencil_tile) {
    launch->block = dim3(WIDTH, 4);
    launch->grid = dim3(ceil_div(columns, WIDTH), ceil_div(rows, HEIGHT));
}

__global__ void stencil_tile(const float *in, float *out, int rows, int columns) {
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    load_tile(tile, in, top - 1, left - 1, rows, columns);
    __syncthreads();
    for (int y = threadIdx.y; y < HEIGHT; y += blockDim.y) {
        int row = top + y, column = left + threadIdx.x;
        if (row < rows && column < columns) {
            const float *middle = &tile[y + 1][threadIdx.x + 1];
            float neighbours = tile[y][threadIdx.x + 1] + tile[y + 2][threadIdx.x + 1] + middle[-1] + middle[1];
            out[(long long)row * columns + column] = 0.5f * middle[0] + 0.125f * neighbours;
        }
    }
}

LAUNCH(filter_constant) {
    launch->block = dim3(WIDTH, 4);
    launch->grid = dim3(ceil_div(columns, WIDTH), ceil_div(rows, HEIGHT));
}

__global__ void filter_constant(const float *in, float *out, int rows, int columns) {
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    __shared__ float tile[HEIGHT + 6][WIDTH + 6];
    load_tile(tile, in, top - 3, left - 3, rows, columns);
    __syncthreads();
    for (int y = threadIdx.y; y < HEIGHT; y += blockDim.y) {
        int row = top + y, column = left + threadIdx.x;
        float sum = 0.0f;
        for (int dy = 0; dy < 7; dy++) {
            for (int dx = 0; dx < 7; dx++) {
                sum += weights_7[7 * dy + dx] * tile[y + dy][threadIdx.x + dx];
            }
        }
        if (row < rows && column < columns) {
            out[(long long)row * columns + column] = sum;
        }
    }
}

const int WIDE = 128, HIGH = 32;

template <int SIDE>
__device__ void filter_column(const float *weights, const float *in, float *out, int rows, int columns) {
    int left = blockIdx.x * WIDE, top = blockIdx.y * HIGH;
    __shared__ float tile[HIGH + SIDE - 1][WIDE + SIDE - 1];
    load_tile(tile, in, top - SIDE / 2, left - SIDE / 2, rows, columns);
    __syncthreads();
    int column = left + threadIdx.x;
    float sums[SIDE] = {};
    for (int y = 0; y < HIGH + SIDE - 1; y++) {
        float x[SIDE];
        for (int dx = 0; dx < SIDE; dx++) {
            x[dx] = tile[y][threadIdx.x + dx];
        }
        for (int dy = SIDE - 1; dy >= 0; dy--) {
            float sum = dy > 0 ? sums[dy - 1] : 0.0f;
            for (int dx = 0; dx < SIDE; dx++) {
                sum += weights[SIDE * dy + dx] * x[dx];
            }
            sums[dy] = sum;
        }
        int row = top + y - (SIDE - 1);
        if (y >= SIDE - 1 && row < rows && column < columns) {
            out[(long long)row * columns + column] = sums[SIDE - 1];
        }
    }
}

LAUNCH(filter_column_3) {
    launch->block = WIDE;
    launch->grid = dim3(ceil_div(columns, WIDE), ceil_div(rows, HIGH));
}

__global__ void filter_column_3(const float *in, float *out, int rows, int columns) {
    filter_column<3>(weights_3, in, out, rows, columns);
}

LAUNCH(filter_column_7) {
    launch->block = WIDE;
    launch->grid = dim3(ceil_div(columns, WIDE), ceil_div(rows, HIGH));
}

__global__ void filter_column_7(const float *in, float *out, int rows, int columns) {
    filter_column<7>(weights_7, in, out, rows, columns);
}
