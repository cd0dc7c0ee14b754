// Chapter 11: transposing a matrix.
//
// Element (row, column) of `in` becomes element (column, row) of `out`. Both are stored row after row, so a
// row of one is a column of the other: if a warp goes along a row of one matrix, its access to the other is
// split into 32 sectors. To avoid this, the warp goes along rows on both sides and transposes a tile in
// shared memory.
//
// in: rows x columns floats. out: columns x rows floats. Neither number need be a multiple of 32.
#include "warpbook.cuh"

const int TILE = 32; // the side of a tile: a warp moves one row of it at a time

// One element per thread: transpose_naive<<<dim3((columns + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(...)
LAUNCH(transpose_naive) {
    launch->block = dim3(32, 8);
    launch->grid = dim3(ceil_div(columns, 32), ceil_div(rows, 8));
}

__global__ void transpose_naive(const float *in, float *out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    // TODO 1: this is a copy. Where in `out` does the element belong?
    if (row < rows && column < columns) {
        out[(long long)row * columns + column] = in[(long long)row * columns + column];
    }
}

// Through a tile, with one thread for each of its elements:
// transpose_tile<<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(in, out, rows, columns)
LAUNCH(transpose_tile) {
    launch->block = dim3(TILE, TILE);
    launch->grid = dim3(ceil_div(columns, TILE), ceil_div(rows, TILE));
}

__global__ void transpose_tile(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[TILE][TILE];
    // The element of `in` that this thread loads.
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = in[(long long)row * columns + column];
    }
    // TODO 2: the tile is written. Which other threads read it, and when may they?
    // TODO 3: this is a copy. A warp of this block is a row of threads with one threadIdx.y. Let it store a
    //         row of `out`: which row and column of it is this thread's, and where in the tile is that
    //         element?
    if (row < rows && column < columns) {
        out[(long long)row * columns + column] = tile[threadIdx.y][threadIdx.x];
    }
}

// The same with a tile that has no conflicts: transpose_padded<<<..., dim3(32, 32)>>>(in, out, rows, columns)
LAUNCH(transpose_padded) {
    launch->block = dim3(TILE, TILE);
    launch->grid = dim3(ceil_div(columns, TILE), ceil_div(rows, TILE));
}

__global__ void transpose_padded(const float *in, float *out, int rows, int columns) {
    // TODO 4: a column of a 32 x 32 tile is in one bank: word 0, word 32, word 64 ... How long must a row
    //         of the tile be, so that a column uses all 32 banks?
    __shared__ float tile[TILE][TILE];
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = in[(long long)row * columns + column];
    }
    // TODO 5: all that follows is as above.
    if (row < rows && column < columns) {
        out[(long long)row * columns + column] = tile[threadIdx.y][threadIdx.x];
    }
}

// Eight elements per thread, in tiles four times as large:
// transpose_several<<<dim3((rows + 63) / 64, (columns + 63) / 64), dim3(64, 8)>>>(in, out, rows, columns)
const int WIDE = 64; // the side of a large tile: a row of it is 256 bytes, which is faster in DRAM than 128
const int STEP = 8;  // rows of threads

LAUNCH(transpose_several) {
    launch->block = dim3(WIDE, STEP);
    // x of the grid goes down `in`, so neighbouring blocks store next to each other in `out`.
    launch->grid = dim3(ceil_div(rows, WIDE), ceil_div(columns, WIDE));
}

__global__ void transpose_several(const float *in, float *out, int rows, int columns) {
    // TODO 6: a tile of 64 x 64, padded like that of TODO 4, with 8 rows of threads: each thread loads eight
    //         elements, 8 rows apart, before the barrier, and stores eight after it. Indices and barrier then
    //         cost once for eight elements. Note that here blockIdx.x counts tiles down a column of `in`.
}
