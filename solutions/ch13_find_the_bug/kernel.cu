// SKELETON VERDICT: LAUNCH
// Chapter 13: find the bug.
//
// Eight kernels, each with one mistake that public tutorials teach. All look reasonable, and some give the right
// answer most of the time. Name the mistake next to the kernel and fix it, with as few changes as
// possible.
#include "warpbook.cuh"

enum Mistake {
    NOT_NAMED_YET,
    ADDITION_TAKEN_FOR_ASSOCIATIVE, // the order of additions affects the last digits
    ATOMICS_WITHOUT_ZEROING,        // added to the previous contents of memory
    BALLOT_TAKEN_FOR_A_MASK,        // lanes that do not take part are read
    BARRIER_IN_A_REMAINDER,         // some threads leave its loop one round earlier
    BARRIER_ONLY_SAID,              // a comment is not a barrier
    BASE_NOT_ALIGNED,               // a float4 at an address that is not a multiple of 16
    FLOAT3_TAKEN_FOR_16_BYTES,      // its size is 12, and its alignment 4
    GRID_TAKEN_FOR_ENDLESS,         // x goes up to 2^31 - 1, y and z up to 65,535
    LANES_GONE_EARLY,               // named in the mask of a shuffle, but exited
    LOCKSTEP_ASSUMED,               // lanes of a warp are ordered only at synchronisation points
    PADDING_OF_TWO,                 // correct for a tile of 16 rows; 32 rows need one
    SHARED_MEMORY_TAKEN_FOR_ZERO,   // a slot is read that was never written
    STRIDE_LEFT_AS_IT_WAS,          // unrolled by four, but each round moves on by one
    TAIL_DROPPED,                   // the elements after the last whole group
    TREE_CUT_AT_64,                 // the loop leaves 64 values, and a warp adds 32
};

// ---- 1 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 1: name it, and fix it; the same below.
// SKELETON: constexpr Mistake IN_ADD_TO_ROWS = NOT_NAMED_YET;
constexpr Mistake IN_ADD_TO_ROWS = GRID_TAKEN_FOR_ENDLESS;
// END SOLUTION

// One block for each row.
LAUNCH(add_to_rows) {
    launch->block = 32;
    // BEGIN SOLUTION
    // SKELETON: launch->grid = dim3(1, (unsigned)rows);
    launch->grid = rows;
    // END SOLUTION
}

// out: in, with addend[row] added to each element of a row.
__global__ void add_to_rows(const float *in, const float *addend, float *out, int rows, int columns) {
    // BEGIN SOLUTION
    // SKELETON: long long row = blockIdx.y;
    long long row = blockIdx.x;
    // END SOLUTION
    if (row >= rows) {
        return;
    }
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        out[row * columns + column] = in[row * columns + column] + addend[row];
    }
}

// ---- 2 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 2: name it, and fix it.
// SKELETON: constexpr Mistake IN_SQUARED_LENGTHS = NOT_NAMED_YET;
constexpr Mistake IN_SQUARED_LENGTHS = FLOAT3_TAKEN_FOR_16_BYTES;
// END SOLUTION

LAUNCH(squared_lengths) {
    launch->block = 128;
    launch->grid = ceil_div(n, 128);
}

// points: n points of three floats each. out: x * x + y * y + z * z for each.
__global__ void squared_lengths(const float *points, float *out, int n) {
    // BEGIN SOLUTION
    // SKELETON: const float4 *point = (const float4 *)points; // x, y, z, and what pads it to 16 bytes
    const float3 *point = (const float3 *)points;
    // END SOLUTION
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // BEGIN SOLUTION
        // SKELETON: float4 p = point[i];
        float3 p = point[i];
        // END SOLUTION
        out[i] = p.x * p.x + p.y * p.y + p.z * p.z;
    }
}

// ---- 3 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 3: name it, and fix it.
// SKELETON: constexpr Mistake IN_SUM_BUTTERFLY = NOT_NAMED_YET;
constexpr Mistake IN_SUM_BUTTERFLY = LANES_GONE_EARLY;
// END SOLUTION

LAUNCH(sum_butterfly) {
    launch->block = 128;
    launch->grid = max(1, ceil_div(n, 128));
}

// in: n floats. partial: one float for each warp.
__global__ void sum_butterfly(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    // SKELETON: if (thread >= n) {
    // SKELETON:     return;
    // SKELETON: }
    // SKELETON: float sum = in[thread];
    float sum = thread < n ? in[thread] : 0.0f;
    // END SOLUTION
    for (int bit = 16; bit > 0; bit /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, bit);
    }
    if (threadIdx.x % 32 == 0) {
        partial[thread / 32] = sum;
    }
}

// ---- 4 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 4: name it, and fix it.
// SKELETON: constexpr Mistake IN_SUM_SLOTS = NOT_NAMED_YET;
constexpr Mistake IN_SUM_SLOTS = BARRIER_IN_A_REMAINDER;
// END SOLUTION

LAUNCH(sum_slots) {
    launch->block = 128;
    launch->grid = max(1, min(ceil_div(n, 128), 8));
}

// in: n floats. partial: one float for each block.
__global__ void sum_slots(const float *in, float *partial, int n) {
    __shared__ float slot[128];
    int own = threadIdx.x;

    slot[own] = 0.0f;
    for (int i = blockIdx.x * blockDim.x + own; i < n; i += gridDim.x * blockDim.x) {
        slot[own] += in[i];
        // BEGIN SOLUTION
        // SKELETON: __syncthreads();
        // END SOLUTION
    }
    // BEGIN SOLUTION
    __syncthreads();
    // END SOLUTION
    for (int stride = 64; stride > 0; stride /= 2) {
        if (own < stride) {
            slot[own] += slot[own + stride];
        }
        __syncthreads();
    }
    if (own == 0) {
        partial[blockIdx.x] = slot[0];
    }
}

// ---- 5 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 5: name it, and fix it.
// SKELETON: constexpr Mistake IN_REVERSE_TILES = NOT_NAMED_YET;
constexpr Mistake IN_REVERSE_TILES = BARRIER_ONLY_SAID;
// END SOLUTION

LAUNCH(reverse_tiles) {
    launch->block = 256;
    launch->grid = ceil_div(n, 256);
}

// out: in, with the order of every 256 elements reversed (at the end, of as many as there are).
__global__ void reverse_tiles(const float *in, float *out, int n) {
    __shared__ float tile[256];
    int start = blockIdx.x * 256;
    int length = min(256, n - start);
    int own = threadIdx.x;

    if (own < length) {
        tile[own] = in[start + own];
    }
    // sync: the whole tile has to be there
    // BEGIN SOLUTION
    __syncthreads();
    // END SOLUTION
    if (own < length) {
        out[start + own] = tile[length - 1 - own];
    }
}

// ---- 6 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 6: name it, and fix it.
// SKELETON: constexpr Mistake IN_SUM_TREE = NOT_NAMED_YET;
constexpr Mistake IN_SUM_TREE = TREE_CUT_AT_64;
// END SOLUTION

LAUNCH(sum_tree) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8));
}

// in: n floats. partial: one float for each block.
__global__ void sum_tree(const float *in, float *partial, int n) {
    __shared__ float slot[256];
    int own = threadIdx.x;

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + own; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    slot[own] = sum;
    __syncthreads();
    // In memory until one warp is left, then without barriers.
    // BEGIN SOLUTION
    // SKELETON: for (int stride = blockDim.x / 2; stride > 32; stride /= 2) {
    for (int stride = blockDim.x / 2; stride >= 32; stride /= 2) {
        // END SOLUTION
        if (own < stride) {
            slot[own] += slot[own + stride];
        }
        __syncthreads();
    }
    if (own < 32) {
        sum = slot[own];
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
        if (own == 0) {
            partial[blockIdx.x] = sum;
        }
    }
}

// ---- 7 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 7: name it, and fix it.
// SKELETON: constexpr Mistake IN_SUM_UNROLLED = NOT_NAMED_YET;
constexpr Mistake IN_SUM_UNROLLED = STRIDE_LEFT_AS_IT_WAS;
// END SOLUTION

LAUNCH(sum_unrolled) {
    launch->block = 128;
    launch->grid = max(1, min(ceil_div(n, 1024), 8));
}

// in: n floats. partial: one float for each thread.
__global__ void sum_unrolled(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    int i = thread;
    // BEGIN SOLUTION
    // SKELETON: for (; i + 3 * threads < n; i += threads) {
    for (; i + 3 * threads < n; i += 4 * threads) {
        // END SOLUTION
        sum += (in[i] + in[i + threads]) + (in[i + 2 * threads] + in[i + 3 * threads]);
    }
    for (; i < n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}

// ---- 8 ----------------------------------------------------------------------------------------------------

// BEGIN SOLUTION
// TODO 8: name it, and fix it. This one is never wrong.
// SKELETON: constexpr Mistake IN_TRANSPOSE_TILES = NOT_NAMED_YET;
constexpr Mistake IN_TRANSPOSE_TILES = PADDING_OF_TWO;
// END SOLUTION

LAUNCH(transpose_tiles) {
    launch->block = dim3(32, 8);
    launch->grid = ceil_div(columns, 32) * ceil_div(rows, 32);
}

// in: rows times columns floats. out: columns times rows, the transpose.
__global__ void transpose_tiles(const float *in, float *out, int rows, int columns) {
    // BEGIN SOLUTION
    // SKELETON: __shared__ float tile[32][32 + 2]; // padded against bank conflicts
    __shared__ float tile[32][32 + 1];
    // END SOLUTION
    int across = (columns + 31) / 32; // tiles in a row
    int column = blockIdx.x % across * 32, row = blockIdx.x / across * 32;
    int x = threadIdx.x;

    for (int y = threadIdx.y; y < 32; y += 8) {
        if (row + y < rows && column + x < columns) {
            tile[y][x] = in[(long long)(row + y) * columns + column + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        if (column + y < columns && row + x < rows) {
            out[(long long)(column + y) * rows + row + x] = tile[x][y];
        }
    }
}

// ---- What you found ---------------------------------------------------------------------------------------

LAUNCH(names) {
    launch->block = 1;
    launch->grid = 1;
}

__global__ void names(int *named) {
    named[0] = IN_ADD_TO_ROWS;
    named[1] = IN_SQUARED_LENGTHS;
    named[2] = IN_SUM_BUTTERFLY;
    named[3] = IN_SUM_SLOTS;
    named[4] = IN_REVERSE_TILES;
    named[5] = IN_SUM_TREE;
    named[6] = IN_SUM_UNROLLED;
    named[7] = IN_TRANSPOSE_TILES;
}
