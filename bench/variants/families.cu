// Kernels of the kinds that Part Two teaches, and relatives of those that the time model was wrong about: stencils,
// scans, histograms, rows read again, trees in a loop, tiles of other shapes, divergence, narrow copies.
#include "warp_block.cuh"

#define EACH_ELEMENT(i)                                                                                      \
    _Pragma("unroll 1") for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;                           \
                             i += gridDim.x * blockDim.x)
#define SUM(name) extern "C" __global__ void name(const float *in, float *partial, int n)
#define COPY(name) extern "C" __global__ void name(const float *in, float *out, int n)
#define SQUARE(name) extern "C" __global__ void name(const float *in, float *out, int side)

// ---- Sums ----------------------------------------------------------------------------------------------------
// A complete tree in shared memory for each element of a thread.
SUM(tree_a_tile) {
    __shared__ float tree[256];
    float sum = 0.0f;
    int steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        tree[threadIdx.x] = i < n ? in[i] : 0.0f;
        __syncthreads();
#pragma unroll 1
        for (int half = 128; half > 0; half /= 2) {
            if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) sum += tree[0];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
// The same, with the last warp's part by shuffles.
SUM(tree_a_tile_shuffles) {
    __shared__ float tree[256];
    float sum = 0.0f;
    int steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        tree[threadIdx.x] = i < n ? in[i] : 0.0f;
        __syncthreads();
#pragma unroll 1
        for (int half = 128; half > 16; half /= 2) {
            if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x < 32) sum += sum_of_warp(tree[threadIdx.x]);
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
SUM(tree_then_shuffles) {
    __shared__ float tree[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tree[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 16; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        float sum = sum_of_warp(tree[threadIdx.x]);
        if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    }
}
SUM(cover_float4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n / 4 ? sum_of(((const float4 *)in)[i]) : 0.0f;
    leave_sum(sum, partial);
}
SUM(cover_two_float4) {
    const float4 *vector = (const float4 *)in;
    int i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
    float4 a = i < n / 4 ? vector[i] : float4{}, b = i + blockDim.x < n / 4 ? vector[i + blockDim.x] : float4{};
    leave_sum(sum_of(a) + sum_of(b), partial);
}
// Every element is shuffled through the warp before it is added.
SUM(shuffle_an_element) {
    float sum = 0.0f;
    int steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        float value = sum_of_warp(i < n ? in[i] : 0.0f);
        sum += threadIdx.x % 32 == 0 ? value : 0.0f;
    }
    leave_sum(sum, partial);
}
SUM(integers_32) { // dependent integer multiplications and additions
    float sum = 0.0f;
    int one = n >= 0 ? 1 : 2, zero = n >= 0 ? 0 : 1;
    EACH_ELEMENT(i) {
        int value = (int)in[i];
#pragma unroll
        for (int k = 0; k < 32; k++) value = value * one + zero;
        sum += (float)value;
    }
    leave_sum(sum, partial);
}
SUM(logic_32) { // dependent shifts and logic
    float sum = 0.0f;
    int zero = n >= 0 ? 0 : 1;
    EACH_ELEMENT(i) {
        unsigned value = __float_as_uint(in[i]), other = value;
#pragma unroll
        for (int k = 0; k < 16; k++) other = (other >> zero) ^ (value & zero);
        sum += __uint_as_float(other);
    }
    leave_sum(sum, partial);
}
SUM(divide_floats) {
    float one = one_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        float value = in[i];
#pragma unroll
        for (int k = 0; k < 4; k++) value = value / one;
        sum += value;
    }
    leave_sum(sum, partial);
}
SUM(exponentials) {
    float zero = zero_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        float value = in[i];
        float power = __expf(value * zero);
#pragma unroll
        for (int k = 0; k < 3; k++) power = __logf(__expf(power));
        sum += fmaf(power, zero, value);
    }
    leave_sum(sum, partial);
}
SUM(sines) {
    float zero = zero_of(n), sum = 0.0f;
    EACH_ELEMENT(i) {
        float value = in[i];
        sum += fmaf(sinf(value), zero, value);
    }
    leave_sum(sum, partial);
}
template <int STRIDE> __device__ void banks(const float *in, float *partial, int n) {
    __shared__ float slot[8][32 * STRIDE];
    int lane = threadIdx.x % 32, steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
    float *mine = slot[threadIdx.x / 32], sum = 0.0f;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        mine[lane * STRIDE] = i < n ? in[i] : 0.0f;
        __syncwarp();
        float value = mine[(lane ^ 1) * STRIDE];
        __syncwarp();
        mine[lane * STRIDE] = value;
        __syncwarp();
        sum += mine[(lane ^ 2) * STRIDE];
        __syncwarp();
    }
    leave_sum(sum, partial);
}
SUM(bank_1_twice) { banks<1>(in, partial, n); }
SUM(bank_4_twice) { banks<4>(in, partial, n); }
SUM(bank_8_twice) { banks<8>(in, partial, n); }
SUM(bank_16_twice) { banks<16>(in, partial, n); }
// The multiply-adds of one of eight paths: the lanes of a warp take several, or whole warps one each.
#define PATH(p)                                                                                              \
    case p:                                                                                                  \
        _Pragma("unroll") for (int k = 0; k < 48; k++) asm volatile("fma.rn.f32 %0, %0, %1, %2; // " #p      \
                                                                    : "+f"(value)                            \
                                                                    : "f"(one), "f"(zero));                  \
        break;
#define DIVERGE(name, path_of)                                                                               \
    SUM(name) {                                                                                              \
        float one = one_of(n), zero = zero_of(n), sum = 0.0f;                                                \
        int path = path_of;                                                                                  \
        EACH_ELEMENT(i) {                                                                                    \
            float value = in[i];                                                                             \
            switch (path) { PATH(0) PATH(1) PATH(2) PATH(3) PATH(4) PATH(5) PATH(6) PATH(7) }                \
            sum += value;                                                                                    \
        }                                                                                                    \
        leave_sum(sum, partial);                                                                             \
    }
DIVERGE(paths_apart, threadIdx.x / 32 % 8)
DIVERGE(paths_2, threadIdx.x % 2)
DIVERGE(paths_4, threadIdx.x % 4)
DIVERGE(paths_8, threadIdx.x % 8)
// A gather through a table of 4 KiB that stays in the L1.
SUM(gather_l1) {
    float sum = 0.0f;
    EACH_ELEMENT(i) {
        float value = in[i];
        int at = (int)(fabsf(value)) * 61 % 1024;
        sum += fmaf(in[at], zero_of(n), value);
    }
    leave_sum(sum, partial);
}

// ---- Histograms: the counters add up to n -----------------------------------------------------------------------
extern "C" __global__ void bins_global(const float *in, unsigned *bins, int n) {
    EACH_ELEMENT(i) atomicAdd(&bins[(int)(in[i] + 15.0f) / 2 + 16 * (threadIdx.x % 16)], 1u);
}
extern "C" __global__ void bins_shared(const float *in, unsigned *bins, int n) {
    __shared__ unsigned count[256];
    count[threadIdx.x] = 0;
    __syncthreads();
    EACH_ELEMENT(i) atomicAdd(&count[(int)(in[i] + 15.0f) / 2 + 16 * (threadIdx.x % 16)], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], count[threadIdx.x]);
}
extern "C" __global__ void bins_each_warp(const float *in, unsigned *bins, int n) {
    __shared__ unsigned count[8][256];
    for (int k = threadIdx.x; k < 8 * 256; k += 256) (&count[0][0])[k] = 0;
    __syncthreads();
    unsigned *mine = count[threadIdx.x / 32];
    EACH_ELEMENT(i) atomicAdd(&mine[(int)(in[i] + 15.0f) / 2], 1u);
    __syncthreads();
    unsigned total = 0;
    for (int k = 0; k < 8; k++) total += count[k][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], total);
}
extern "C" __global__ void bins_voted(const float *in, unsigned *bins, int n) {
    unsigned count = 0;
    int steps = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        int i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        int bin = i < n ? (int)(in[i] + 15.0f) / 2 : -1;
        for (int k = 0; k < 16; k++) {
            unsigned votes = __ballot_sync(0xffffffff, bin == k);
            count += threadIdx.x % 32 == k ? __popc(votes) : 0;
        }
    }
    if (threadIdx.x % 32 < 16) atomicAdd(&bins[threadIdx.x % 32], count);
}

// ---- Scans of tiles of 1024, each by itself ---------------------------------------------------------------------
COPY(scan_doubling) {
    __shared__ float s[2][1024];
    int i = blockIdx.x * 1024 + threadIdx.x, now = 0;
    s[0][threadIdx.x] = in[i];
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        s[1 - now][threadIdx.x] = s[now][threadIdx.x] + (threadIdx.x >= d ? s[now][threadIdx.x - d] : 0.0f);
        now = 1 - now;
        __syncthreads();
    }
    out[i] = s[now][threadIdx.x];
}
__device__ inline float scan_of_warp(float value) {
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(0xffffffff, value, d);
        value += threadIdx.x % 32 >= d ? other : 0.0f;
    }
    return value;
}
COPY(scan_shuffles) {
    __shared__ float sum_of[32];
    int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = scan_of_warp(in[i]);
    if (lane == 31) sum_of[warp] = value;
    __syncthreads();
    if (warp == 0) sum_of[lane] = scan_of_warp(sum_of[lane]);
    __syncthreads();
    out[i] = value + (warp ? sum_of[warp - 1] : 0.0f);
}
COPY(scan_four_a_thread) {
    __shared__ float sum_of[8];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float4 four = ((const float4 *)in)[i];
    four.y += four.x, four.z += four.y, four.w += four.z;
    float value = scan_of_warp(four.w);
    if (lane == 31) sum_of[warp] = value;
    __syncthreads();
    float before = value - four.w;
    for (int k = 0; k < warp; k++) before += sum_of[k];
    ((float4 *)out)[i] = {four.x + before, four.y + before, four.z + before, four.w + before};
}

// ---- Stencils whose neighbours count nothing: a copy --------------------------------------------------------------
COPY(stencil_line) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float zero = zero_of(n);
    if (i < n) out[i] = fmaf(zero, (i > 0 ? in[i - 1] : 0.0f) + (i < n - 1 ? in[i + 1] : 0.0f), in[i]);
}
COPY(stencil_line_7) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float zero = zero_of(n), sum = 0.0f;
    if (i >= n) return;
#pragma unroll
    for (int k = -3; k <= 3; k++) sum = fmaf(k ? zero : 1.0f, i + k >= 0 && i + k < n ? in[i + k] : 0.0f, sum);
    out[i] = sum;
}
COPY(stencil_line_shared) {
    __shared__ float tile[256 + 6];
    int first = blockIdx.x * 256 - 3;
    float zero = zero_of(n), sum = 0.0f;
    for (int k = threadIdx.x; k < 262; k += 256) tile[k] = first + k >= 0 && first + k < n ? in[first + k] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 7; k++) sum = fmaf(k == 3 ? 1.0f : zero, tile[threadIdx.x + k], sum);
    out[first + 3 + threadIdx.x] = sum;
}
SQUARE(stencil_5) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * side + x;
    float zero = zero_of(side), near = 0.0f;
    if (x > 0) near += in[i - 1];
    if (x < side - 1) near += in[i + 1];
    if (y > 0) near += in[i - side];
    if (y < side - 1) near += in[i + side];
    out[i] = fmaf(near, zero, in[i]);
}
SQUARE(stencil_9_shared) {
    __shared__ float tile[10][34];
    int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
        int x = left + k % 34, y = top + k / 34;
        tile[k / 34][k % 34] = x >= 0 && x < side && y >= 0 && y < side ? in[y * side + x] : 0.0f;
    }
    __syncthreads();
    float zero = zero_of(side), sum = 0.0f;
#pragma unroll
    for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++)
            sum = fmaf(dy == 1 && dx == 1 ? 1.0f : zero, tile[threadIdx.y + dy][threadIdx.x + dx], sum);
    out[(top + 1 + threadIdx.y) * side + left + 1 + threadIdx.x] = sum;
}
// A thread goes down 32 rows and keeps three of them in registers.
SQUARE(stencil_column) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 32;
    float zero = zero_of(side), above = top > 0 ? in[(top - 1) * side + x] : 0.0f, here = in[top * side + x];
#pragma unroll 4
    for (int y = top; y < top + 32; y++) {
        float below = y < side - 1 ? in[(y + 1) * side + x] : 0.0f;
        out[y * side + x] = fmaf(zero, above + below, here);
        above = here, here = below;
    }
}

// ---- Rows of 2048 -------------------------------------------------------------------------------------------------
__device__ inline float to_all(float value, bool is_max) {
    __shared__ float part[32];
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffff, value, d);
        value = is_max ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int k = 1; k < blockDim.x / 32; k++) value = is_max ? fmaxf(value, part[k]) : value + part[k];
    __syncthreads();
    return value;
}
extern "C" __global__ void rows_twice(const float *in, float *out, int rows) {
    const float *row = in + 2048ll * blockIdx.x;
    float most = -1e30f, sum = 0.0f;
#pragma unroll 1
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) most = fmaxf(most, row[k]);
    most = to_all(most, true);
#pragma unroll 1
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) sum += fmaf(most, zero_of(rows), row[k]);
    sum = to_all(sum, false);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
// out: the row, each element less 0 times its maximum: a copy.
extern "C" __global__ void rows_three_times(const float *in, float *out, int rows) {
    const float *row = in + 2048ll * blockIdx.x;
    float most = -1e30f, sum = 0.0f, zero = zero_of(rows);
#pragma unroll 1
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) most = fmaxf(most, row[k]);
    most = to_all(most, true);
#pragma unroll 1
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) sum += __expf(row[k] - most);
    sum = to_all(sum, false);
#pragma unroll 1
    for (int k = threadIdx.x; k < 2048; k += blockDim.x)
        out[2048ll * blockIdx.x + k] = fmaf(__expf(row[k] - most) / sum, zero, row[k]);
}
extern "C" __global__ void rows_in_registers(const float *in, float *out, int rows) {
    const float4 *row = (const float4 *)(in + 2048ll * blockIdx.x);
    float4 a = row[threadIdx.x], b = row[threadIdx.x + 256];
    float zero = zero_of(rows), most = fmaxf(fmaxf(fmaxf(a.x, a.y), fmaxf(a.z, a.w)), fmaxf(fmaxf(b.x, b.y), fmaxf(b.z, b.w)));
    most = to_all(most, true);
    float sum = __expf(a.x - most) + __expf(a.y - most) + __expf(a.z - most) + __expf(a.w - most) +
                __expf(b.x - most) + __expf(b.y - most) + __expf(b.z - most) + __expf(b.w - most);
    sum = to_all(sum, false) * zero;
    float4 *to = (float4 *)(out + 2048ll * blockIdx.x);
    to[threadIdx.x] = {a.x + sum, a.y + sum, a.z + sum, a.w + sum};
    to[threadIdx.x + 256] = {b.x + sum, b.y + sum, b.z + sum, b.w + sum};
}
extern "C" __global__ void rows_a_warp(const float *in, float *out, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float most = -1e30f, sum = 0.0f, zero = zero_of(rows);
    for (int k = lane; k < 2048; k += 32) {
        float value = in[2048ll * row + k], next = fmaxf(most, value);
        sum = sum * __expf(most - next) + __expf(value - next);
        most = next;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int k = lane; k < 2048; k += 32) out[2048ll * row + k] = fmaf(sum, zero, in[2048ll * row + k]);
}

// ---- Copies -------------------------------------------------------------------------------------------------------
COPY(copy_float) { EACH_ELEMENT(i) out[i] = in[i]; }
COPY(copy_pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) ((float2 *)out)[i] = ((const float2 *)in)[i];
}
COPY(copy_bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 4 * n) ((unsigned char *)out)[i] = ((const unsigned char *)in)[i];
}
COPY(copy_halves) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 * n) ((unsigned short *)out)[i] = ((const unsigned short *)in)[i];
}
COPY(copy_shared) {
    __shared__ float tile[1024];
    int first = blockIdx.x * 1024;
    for (int k = threadIdx.x; k < 1024; k += 256) tile[k] = in[first + k];
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256) out[first + k] = tile[k];
}
COPY(copy_four_in_a_row) {
    int i = blockIdx.x * 4 * blockDim.x + threadIdx.x;
    float a = in[i], b = in[i + 256], c = in[i + 512], d = in[i + 768];
    out[i] = a, out[i + 256] = b, out[i + 512] = c, out[i + 768] = d;
}
COPY(copy_reversed_warps) { // each warp copies its 32 elements backwards
    int i = (blockIdx.x * blockDim.x + threadIdx.x) ^ 31;
    if (i < n) out[i] = in[i];
}
COPY(copy_offset) { // lanes begin in the middle of a line
    int i = (blockIdx.x * blockDim.x + threadIdx.x + 8) & (n - 1);
    out[i] = in[i];
}
extern "C" __global__ void fill_float(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.0f;
}

// ---- Transposes ---------------------------------------------------------------------------------------------------
template <int TILE, int PAD> __device__ void transpose(const float *in, float *out, int side) {
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int dy = 0; dy < TILE; dy += blockDim.y)
        for (int dx = 0; dx < TILE; dx += blockDim.x)
            tile[threadIdx.y + dy][threadIdx.x + dx] = in[(long long)(y + dy) * side + x + dx];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int dy = 0; dy < TILE; dy += blockDim.y)
        for (int dx = 0; dx < TILE; dx += blockDim.x)
            out[(long long)(y + dy) * side + x + dx] = tile[threadIdx.x + dx][threadIdx.y + dy];
}
SQUARE(turn_32) { transpose<32, 1>(in, out, side); }
SQUARE(turn_64) { transpose<64, 1>(in, out, side); }
SQUARE(turn_32_conflicts) { transpose<32, 0>(in, out, side); }
SQUARE(turn_64_conflicts) { transpose<64, 0>(in, out, side); }
SQUARE(turn_16) { transpose<16, 1>(in, out, side); }
// Two pads: conflicts of four lanes.
SQUARE(turn_32_pad_4) { transpose<32, 4>(in, out, side); }
