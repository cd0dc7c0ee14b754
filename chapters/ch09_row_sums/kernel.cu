// Chapter 9: the sum of every row of a matrix.
//
// A matrix of rows x columns is stored row after row. There are many sums to compute, and none of them needs
// another block: the question is how many threads work on a row. If it is a whole block, its warps must
// combine their sums, as in chapter 5. If it is one warp, shuffles are enough.
//
// Rows may have any length, 0 and 1 included, and so they begin anywhere: at any multiple of 4 bytes, or
// of 8 where the numbers are doubles.
#include "warpbook.cuh"

// The sum over the 32 lanes of a warp (chapter 4); lane 0 receives it. Number is float or double.
template <typename Number> __device__ Number sum_of_warp(Number value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

// The sum over a block of whole warps (chapter 5); thread 0 receives it.
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

// The share of thread `thread` of `threads` threads in the sum of a row of `columns` floats.
__device__ float sum_of_share(const float *row, int columns, int thread, int threads) {
    float sum = 0.0f;
    // TODO 1: this is correct, but loads one float at a time. Load groups of four (chapter 7), wherever the row
    //         begins and ends. Several loads that do not wait for one another keep more bytes in flight.
    for (int i = thread; i < columns; i += threads) {
        sum += row[i];
    }
    return sum;
}

// One block per row: row_sums_block<<<rows, 128>>>(in, out, rows, columns)
LAUNCH(row_sums_block) {
    launch->block = 128; // 2,048 columns are then four float4 per thread
    launch->grid = rows;
}

// in: rows x columns floats. out: a float for each row.
__global__ void row_sums_block(const float *in, float *out, int rows, int columns) {
    int row = blockIdx.x;
    const float *start = in + (long long)row * columns; // the product may exceed an int

    // TODO 2: let all threads of the block share the row, combine their sums, and store one float.
    if (threadIdx.x == 0) {
        out[row] = sum_of_share(start, columns, 0, blockDim.x);
    }
}

// One warp per row, eight rows per block: row_sums_warp<<<(rows + 7) / 8, 256>>>(in, out, rows, columns)
LAUNCH(row_sums_warp) {
    launch->block = 256;
    launch->grid = ceil_div(rows, 8);
}

__global__ void row_sums_warp(const float *in, float *out, int rows, int columns) {
    int lane = threadIdx.x % 32;
    // TODO 3: which row belongs to this warp, and is there one? The lanes share it; no value has to pass
    //         through shared memory, and no warp has to wait for another.
    if (lane == 0 && blockIdx.x == 0 && threadIdx.x == 0 && rows > 0) {
        out[0] = sum_of_share(in, columns, 0, 32);
    }
}

// One warp per row of doubles: row_sums_double<<<(rows + 7) / 8, 256>>>(in, out, rows, columns)
LAUNCH(row_sums_double) {
    launch->block = 256;
    launch->grid = ceil_div(rows, 8);
}

// in: rows x columns doubles. out: a double for each row.
__global__ void row_sums_double(const double *in, double *out, int rows, int columns) {
    int lane = threadIdx.x % 32;
    // TODO 4: the same for doubles. 16 bytes are two of them, a double2; sums are doubles throughout.
    if (lane == 0 && blockIdx.x == 0 && threadIdx.x == 0 && rows > 0) {
        out[0] = columns > 0 ? in[0] : 0.0;
    }
}
