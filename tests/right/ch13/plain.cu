// RIGHT: plain - the solution in fewer lines
#include "warpbook.cuh"

enum Mistake {
    NOT_NAMED_YET,
    ADDITION_TAKEN_FOR_ASSOCIATIVE,
    ATOMICS_WITHOUT_ZEROING,
    BALLOT_TAKEN_FOR_A_MASK,
    BARRIER_IN_A_REMAINDER,
    BARRIER_ONLY_SAID,
    BASE_NOT_ALIGNED,
    FLOAT3_TAKEN_FOR_16_BYTES,
    GRID_TAKEN_FOR_ENDLESS,
    LANES_GONE_EARLY,
    LOCKSTEP_ASSUMED,
    PADDING_OF_TWO,
    SHARED_MEMORY_TAKEN_FOR_ZERO,
    STRIDE_LEFT_AS_IT_WAS,
    TAIL_DROPPED,
    TREE_CUT_AT_64,
};
constexpr Mistake IN_ADD_TO_ROWS = GRID_TAKEN_FOR_ENDLESS;
LAUNCH(add_to_rows) {
    launch->block = 32;
    launch->grid = rows;
}
__global__ void add_to_rows(const float *in, const float *addend, float *out, int rows, int columns) {
    long long row = blockIdx.x;
    if (row >= rows) {
        return;
    }
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        out[row * columns + column] = in[row * columns + column] + addend[row];
    }
}
constexpr Mistake IN_SQUARED_LENGTHS = FLOAT3_TAKEN_FOR_16_BYTES;

LAUNCH(squared_lengths) {
    launch->block = 128;
    launch->grid = ceil_div(n, 128);
}
__global__ void squared_lengths(const float *points, float *out, int n) {
    const float3 *point = (const float3 *)points;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float3 p = point[i];
        out[i] = p.x * p.x + p.y * p.y + p.z * p.z;
    }
}
constexpr Mistake IN_SUM_BUTTERFLY = LANES_GONE_EARLY;

LAUNCH(sum_butterfly) {
    launch->block = 128;
    launch->grid = max(1, ceil_div(n, 128));
}
__global__ void sum_butterfly(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = thread < n ? in[thread] : 0.0f;
    for (int bit = 16; bit > 0; bit /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, bit);
    }
    if (threadIdx.x % 32 == 0) {
        partial[thread / 32] = sum;
    }
}
constexpr Mistake IN_SUM_SLOTS = BARRIER_IN_A_REMAINDER;

LAUNCH(sum_slots) {
    launch->block = 128;
    launch->grid = max(1, min(ceil_div(n, 128), 8));
}
__global__ void sum_slots(const float *in, float *partial, int n) {
    __shared__ float slot[128];
    int own = threadIdx.x;

    slot[own] = 0.0f;
    for (int i = blockIdx.x * blockDim.x + own; i < n; i += gridDim.x * blockDim.x) {
        slot[own] += in[i];
    }
    __syncthreads();
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
constexpr Mistake IN_REVERSE_TILES = BARRIER_ONLY_SAID;

LAUNCH(reverse_tiles) {
    launch->block = 256;
    launch->grid = ceil_div(n, 256);
}
__global__ void reverse_tiles(const float *in, float *out, int n) {
    __shared__ float tile[256];
    int start = blockIdx.x * 256;
    int length = min(256, n - start);
    int own = threadIdx.x;

    if (own < length) {
        tile[own] = in[start + own];
    }
    __syncthreads();
    if (own < length) {
        out[start + own] = tile[length - 1 - own];
    }
}
constexpr Mistake IN_SUM_TREE = TREE_CUT_AT_64;

LAUNCH(sum_tree) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8));
}
__global__ void sum_tree(const float *in, float *partial, int n) {
    __shared__ float slot[256];
    int own = threadIdx.x;

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + own; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    slot[own] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride >= 32; stride /= 2) {
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
constexpr Mistake IN_SUM_UNROLLED = STRIDE_LEFT_AS_IT_WAS;

LAUNCH(sum_unrolled) {
    launch->block = 128;
    launch->grid = max(1, min(ceil_div(n, 1024), 8));
}
__global__ void sum_unrolled(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float sum = 0.0f;
    int i = thread;
    for (; i + 3 * threads < n; i += 4 * threads) {
        sum += (in[i] + in[i + threads]) + (in[i + 2 * threads] + in[i + 3 * threads]);
    }
    for (; i < n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
constexpr Mistake IN_TRANSPOSE_TILES = PADDING_OF_TWO;

LAUNCH(transpose_tiles) {
    launch->block = dim3(32, 8);
    launch->grid = ceil_div(columns, 32) * ceil_div(rows, 32);
}
__global__ void transpose_tiles(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][32 + 1];
    int across = (columns + 31) / 32;
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
