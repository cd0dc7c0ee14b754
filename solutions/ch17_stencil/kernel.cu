// SKELETON VERDICT: WRONG
// Chapter 17: stencils and filters.
//
// An element of the output is a weighted sum of the elements around its place in an image. What lies outside the
// image adds nothing. Every element of the image belongs to several sums: how often it is fetched, and from where,
// decides how fast the kernel is.
//
// in, out: rows x columns floats, row after row, at multiples of 256 bytes, as cudaMalloc gives them. Neither number
// need be a multiple of anything; an image may be smaller than the filter.
#include "warpbook.cuh"

// The coefficients of the filters, row by row: finite numbers. Before the launch the driver fills them, as a program
// of your own would with cudaMemcpyToSymbol(weights_3, ...).
__constant__ float weights_3[3 * 3];
__constant__ float weights_7[7 * 7];

// An element of the image, or 0 outside it.
__device__ float element(const float *in, int row, int column, int rows, int columns) {
    // BEGIN SOLUTION
    // TODO 1: what has no element must not be read, not even to multiply it by 0.
    // SKELETON: row = min(max(row, 0), rows - 1);
    // SKELETON: column = min(max(column, 0), columns - 1);
    // SKELETON: return in[(long long)row * columns + column];
    bool is_inside = row >= 0 && row < rows && column >= 0 && column < columns;
    return is_inside ? in[(long long)row * columns + column] : 0.0f;
    // END SOLUTION
}

// The stencil of five points: half of an element, and an eighth of each of its four neighbours.
// stencil_simple<<<dim3(ceil_div(columns, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(in, out, rows, columns)
LAUNCH(stencil_simple) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));
}

__global__ void stencil_simple(const float *in, float *out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        // BEGIN SOLUTION
        // TODO 2: add the four neighbours: above, below, left and right.
        // SKELETON: out[(long long)row * columns + column] = element(in, row, column, rows, columns);
        float neighbours = element(in, row - 1, column, rows, columns) + element(in, row + 1, column, rows, columns) +
                           element(in, row, column - 1, rows, columns) + element(in, row, column + 1, rows, columns);
        out[(long long)row * columns + column] =
            0.5f * element(in, row, column, rows, columns) + 0.125f * neighbours;
        // END SOLUTION
    }
}

// Copies a part of the image to shared memory, a row with each warp: tile[0][0] is the element (top, left). The block
// must meet at a barrier before other threads read it.
template <int HEIGHT, int WIDTH>
__device__ void load_tile(float (&tile)[HEIGHT][WIDTH], const float *in, int top, int left, int rows, int columns) {
    int thread = threadIdx.y * blockDim.x + threadIdx.x, warps = blockDim.x * blockDim.y / 32, lane = thread % 32;
    bool is_inside = top >= 0 && top + HEIGHT <= rows && left >= 0 && left + WIDTH <= columns;
    const float *corner = in + (long long)top * columns + left;
    for (int y = thread / 32; y < HEIGHT; y += warps) {
        if (is_inside) { // most tiles: no element has to be tested
#pragma unroll
            for (int x = 0; x < WIDTH; x += 32) {
                if (x + lane < WIDTH) {
                    tile[y][x + lane] = corner[(long long)y * columns + x + lane];
                }
            }
        } else {
            for (int x = lane; x < WIDTH; x += 32) {
                tile[y][x] = element(in, top + y, left + x, rows, columns);
            }
        }
    }
}

// The outputs of a block are a tile of HEIGHT x WIDTH.
// stencil_tile<<<dim3(ceil_div(columns, 64), ceil_div(rows, 16)), dim3(64, 4)>>>(in, out, rows, columns)
const int WIDTH = 64, HEIGHT = 16;

LAUNCH(stencil_tile) {
    launch->block = dim3(WIDTH, 4);
    launch->grid = dim3(ceil_div(columns, WIDTH), ceil_div(rows, HEIGHT));
}

__global__ void stencil_tile(const float *in, float *out, int rows, int columns) {
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    // BEGIN SOLUTION
    // TODO 3: outputs at the edge of the tile need elements beyond it, the halo. How large is the tile of the
    //         inputs, where does it begin, and where in it is the element of an output?
    // SKELETON: __shared__ float tile[HEIGHT][WIDTH];
    // SKELETON: load_tile(tile, in, top, left, rows, columns);
    // SKELETON: __syncthreads();
    // SKELETON: for (int y = threadIdx.y; y < HEIGHT; y += blockDim.y) {
    // SKELETON:     int row = top + y, column = left + threadIdx.x;
    // SKELETON:     if (row < rows && column < columns) {
    // SKELETON:         out[(long long)row * columns + column] = tile[y][threadIdx.x];
    // SKELETON:     }
    // SKELETON: }
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
    // END SOLUTION
}

// A filter of 7 x 7: coefficient (3, 3) belongs to the element itself, (0, 0) to the one 3 above and 3 to the left.
// filter_constant<<<dim3(ceil_div(columns, 64), ceil_div(rows, 16)), dim3(64, 4)>>>(in, out, rows, columns)
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
        // BEGIN SOLUTION
        // TODO 4: 49 products. All lanes need the same coefficient at the same time: it is in weights_7.
        // SKELETON: sum = tile[y][threadIdx.x];
        for (int dy = 0; dy < 7; dy++) {
            for (int dx = 0; dx < 7; dx++) {
                sum += weights_7[7 * dy + dx] * tile[y + dy][threadIdx.x + dx];
            }
        }
        // END SOLUTION
        if (row < rows && column < columns) {
            out[(long long)row * columns + column] = sum;
        }
    }
}

// A column of outputs for each thread, of filters of 3 x 3 and 7 x 7:
// filter_column_3<<<dim3(ceil_div(columns, 256), ceil_div(rows, 16)), 256>>>(in, out, rows, columns)
// filter_column_7<<<dim3(ceil_div(columns, 256), ceil_div(rows, 16)), 256>>>(in, out, rows, columns)
const int WIDE = 256, HIGH = 16; // the outputs of a block

// SIDE x SIDE coefficients, row by row.
template <int SIDE>
__device__ void filter_column(const float *weights, const float *in, float *out, int rows, int columns) {
    int left = blockIdx.x * WIDE, top = blockIdx.y * HIGH;
    __shared__ float tile[HIGH + SIDE - 1][WIDE + SIDE - 1];
    load_tile(tile, in, top - SIDE / 2, left - SIDE / 2, rows, columns);
    __syncthreads();
    int column = left + threadIdx.x;
    // BEGIN SOLUTION
    // TODO 5: each thread goes down its column. A row of the tile belongs to SIDE outputs of the column, below
    //         each other: load its SIDE elements once, and add their products to SIDE sums in registers. After
    //         each row one of the sums is complete.
    // SKELETON: if (column < columns) {
    // SKELETON:     for (int row = top; row < min(rows, top + HIGH); row++) {
    // SKELETON:         out[(long long)row * columns + column] = weights[0] * tile[row - top][threadIdx.x];
    // SKELETON:     }
    // SKELETON: }
    float sums[SIDE] = {}; // sums[k] lacks the last SIDE - 1 - k rows of its filter
    for (int y = 0; y < HIGH + SIDE - 1; y++) {
        float x[SIDE];
        for (int dx = 0; dx < SIDE; dx++) {
            x[dx] = tile[y][threadIdx.x + dx];
        }
        for (int dy = SIDE - 1; dy >= 0; dy--) {
            float sum = dy > 0 ? sums[dy - 1] : 0.0f; // the sum that row dy of the filter comes next for
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
    // END SOLUTION
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
