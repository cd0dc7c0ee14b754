// Kernels that write as much as they read: vector addition, copies, fills, transposes, row sums.

// a, b, out: n floats.
extern "C" __global__ void add_each(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] + b[i];
    }
}
extern "C" __global__ void add_stride(const float *a, const float *b, float *out, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        out[i] = a[i] + b[i];
    }
}
extern "C" __global__ void add_float4(const float4 *a, const float4 *b, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 x = a[i], y = b[i];
        out[i] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
    }
}
extern "C" __global__ void add_float4_stride(const float4 *a, const float4 *b, float4 *out, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 x = a[i], y = b[i];
        out[i] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
    }
}
extern "C" __global__ void add_chunk(const float *a, const float *b, float *out, int n) {
    long long thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    int end = (int)((thread + 1) * n / threads);
#pragma unroll 1
    for (int i = (int)(thread * n / threads); i < end; i++) {
        out[i] = a[i] + b[i];
    }
}

// in, out: n floats.
extern "C" __global__ void copy_float4(const float4 *in, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        out[i] = in[i];
    }
}
// What is written goes nowhere near what is read: reads side by side, writes every 32nd element of a tile.
extern "C" __global__ void copy_scattered(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int place = i & 1023;
        out[(i & ~1023) | (place % 32) * 32 | place / 32] = in[i];
    }
}
// out: n floats, all 1.
extern "C" __global__ void fill_ones(float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        out[i] = {1.0f, 1.0f, 1.0f, 1.0f};
    }
}
// Nothing at all.
extern "C" __global__ void nothing() {}

// in: side x side floats, side a power of two. out: its transpose.
extern "C" __global__ void transpose_reading(const float *in, float *out, int side) { // complete rows are read
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < side && column < side) {
        out[(long long)column * side + row] = in[(long long)row * side + column];
    }
}
extern "C" __global__ void transpose_writing(const float *in, float *out, int side) { // complete rows are written
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < side && column < side) {
        out[(long long)row * side + column] = in[(long long)column * side + row];
    }
}
template <int TILE, int PADDING> __device__ void transpose_tile(const float *in, float *out, int side) {
    __shared__ float tile[TILE][TILE + PADDING];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += TILE / 4) {
        tile[threadIdx.y + k][threadIdx.x] = in[(long long)(row + k) * side + column];
    }
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int k = 0; k < TILE; k += TILE / 4) {
        out[(long long)(row + k) * side + column] = tile[threadIdx.x][threadIdx.y + k];
    }
}
extern "C" __global__ void transpose_tile_32(const float *in, float *out, int side) {
    transpose_tile<32, 0>(in, out, side);
}
extern "C" __global__ void transpose_padded_32(const float *in, float *out, int side) {
    transpose_tile<32, 1>(in, out, side);
}
extern "C" __global__ void transpose_padded_16(const float *in, float *out, int side) {
    transpose_tile<16, 1>(in, out, side);
}

// in: rows x 2048 floats. out: the sum of each row.
enum { COLUMNS = 2048 };
extern "C" __global__ void rows_by_thread(const float *in, float *out, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int k = 0; k < COLUMNS; k++) {
            sum += in[(long long)row * COLUMNS + k];
        }
        out[row] = sum;
    }
}
extern "C" __global__ void rows_by_warp(const float *in, float *out, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int k = lane; k < COLUMNS; k += 32) {
        sum += in[(long long)row * COLUMNS + k];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (lane == 0) {
        out[row] = sum;
    }
}
extern "C" __global__ void rows_by_block(const float *in, float *out, int rows) {
    __shared__ float sum_of[8];
    const float4 *row = (const float4 *)(in + (long long)blockIdx.x * COLUMNS);
    float sum = 0.0f;
    for (int k = threadIdx.x; k < COLUMNS / 4; k += blockDim.x) {
        float4 four = row[k];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        sum_of[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < blockDim.x / 32; warp++) {
            sum += sum_of[warp];
        }
        out[blockIdx.x] = sum;
    }
}
