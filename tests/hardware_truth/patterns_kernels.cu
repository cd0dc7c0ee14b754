// Whole kernels of the kind that the chapters teach: reductions, scans, transposes, histograms, matrices, stencils,
// sorting, and branches that part a warp.
#include "patterns.h"
#define LOOP _Pragma("unroll 1")

// ---- Reductions -----------------------------------------------------------------------------------------------
K(reduce_first_add) {
    __shared__ float s[256];
    s[T] = in[512 * blockIdx.x + T] + in[512 * blockIdx.x + 256 + T];
    __syncthreads();
    LOOP for (int d = 128; d > 0; d /= 2) { if (T < d) s[T] += s[T + d]; __syncthreads(); }
    if (T == 0) out[blockIdx.x] = s[0];
}
K(reduce_last_warp) {
    __shared__ float s[256];
    s[T] = in[I];
    __syncthreads();
    LOOP for (int d = 128; d > 16; d /= 2) { if (T < d) s[T] += s[T + d]; __syncthreads(); }
    if (T < 32) { float v = s[T]; for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d); if (T == 0) out[blockIdx.x] = v; }
}
K(reduce_warps) {
    __shared__ float s[8];
    float v = in[I];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (L == 0) s[T / 32] = v;
    __syncthreads();
    if (T < 32) { v = T < 8 ? s[T] : 0; for (int d = 4; d; d /= 2) v += __shfl_down_sync(~0u, v, d); if (T == 0) out[blockIdx.x] = v; }
}
K(reduce_float4) {
    __shared__ float s[256];
    float v = 0;
    LOOP for (int i = I; i < n; i += gridDim.x * blockDim.x) v += sum(((const float4 *)in)[i]);
    s[T] = v;
    __syncthreads();
    LOOP for (int d = 128; d > 0; d /= 2) { if (T < d) s[T] += s[T + d]; __syncthreads(); }
    if (T == 0) atomicAdd(out, s[0]);
}
K(reduce_tail) {
    __shared__ float s[256];
    s[T] = I < n - 1000 ? in[I] : 0;
    __syncthreads();
    LOOP for (int d = 128; d > 0; d /= 2) { if (T < d) s[T] += s[T + d]; __syncthreads(); }
    if (T == 0) out[blockIdx.x] = s[0];
}
K(reduce_doubles) {
    __shared__ double s[256];
    s[T] = in[I];
    __syncthreads();
    LOOP for (int d = 128; d > 0; d /= 2) { if (T < d) s[T] += s[T + d]; __syncthreads(); }
    if (T == 0) out[blockIdx.x] = (float)s[0];
}
K(reduce_pairs_strided) {
    __shared__ float2 s[256];
    s[T] = make_float2(in[I], in[I + n]);
    __syncthreads();
    LOOP for (int d = 1; d < 256; d *= 2) { int i = 2 * d * T; if (i < 256) { float2 a = s[i], b = s[i + d]; s[i] = make_float2(a.x + b.x, fmaxf(a.y, b.y)); } __syncthreads(); }
    if (T == 0) out[blockIdx.x] = s[0].x * s[0].y;
}
K(argmax) {
    __shared__ float s[256];
    __shared__ int at[256];
    s[T] = in[I];
    at[T] = T;
    __syncthreads();
    LOOP for (int d = 128; d > 0; d /= 2) { if (T < d && s[T + d] > s[T]) { s[T] = s[T + d]; at[T] = at[T + d]; } __syncthreads(); }
    if (T == 0) out[blockIdx.x] = (float)at[0];
}
K(row_sums) { float v = 0; LOOP for (int i = 0; i < 32; i++) v += in[32 * I + i]; out[I] = v; }
K(column_sums) { float v = 0; LOOP for (int i = 0; i < 32; i++) v += in[n * i + I]; out[I] = v; }
K(dot) { float v = in[I] * in[I + n]; for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d); if (L == 0) atomicAdd(out, v); }

// ---- Scans ----------------------------------------------------------------------------------------------------
K(scan_hillis_steele) {
    __shared__ float s[2][256];
    int now = 0;
    s[0][T] = in[I];
    __syncthreads();
    LOOP for (int d = 1; d < 256; d *= 2) { s[1 - now][T] = T >= d ? s[now][T] + s[now][T - d] : s[now][T]; now = 1 - now; __syncthreads(); }
    out[I] = s[now][T];
}
#define BLELLOCH(name, at) \
    K(name) { \
        __shared__ float s[300]; \
        s[at(T)] = in[I]; \
        __syncthreads(); \
        LOOP for (int d = 1; d < 256; d *= 2) { int i = (T + 1) * 2 * d - 1; if (i < 256) s[at(i)] += s[at(i - d)]; __syncthreads(); } \
        if (T == 0) s[at(255)] = 0; \
        __syncthreads(); \
        LOOP for (int d = 128; d > 0; d /= 2) { int i = (T + 1) * 2 * d - 1; if (i < 256) { float v = s[at(i - d)]; s[at(i - d)] = s[at(i)]; s[at(i)] += v; } __syncthreads(); } \
        out[I] = s[at(T)]; \
    }
#define PLAIN(i) (i)
#define PADDED(i) ((i) + ((i) >> 5))
BLELLOCH(scan_blelloch, PLAIN)
BLELLOCH(scan_blelloch_padded, PADDED)
K(scan_warp) {
    float v = in[I];
    for (int d = 1; d < 32; d *= 2) { float u = __shfl_up_sync(~0u, v, d); if (L >= d) v += u; }
    out[I] = v;
}
K(compact) {
    bool keep = in[I] > 6;
    unsigned votes = __ballot_sync(~0u, keep);
    if (keep) out[(I & ~31) + __popc(votes & ((1u << L) - 1))] = in[I + n];
}

// ---- Matrices: 128 columns ------------------------------------------------------------------------------------
#define X0 ((int)(blockIdx.x % 4 * 32))
#define Y0 ((int)(blockIdx.x / 4 * 32 % 128))
#define Z0 ((int)(blockIdx.x / 16 * n))
K(transpose_naive_b32x8) { LOOP for (int y = threadIdx.y; y < 32; y += 8) out[Z0 + 128 * (X0 + T) + Y0 + y] = in[Z0 + 128 * (Y0 + y) + X0 + T]; }
#define TRANSPOSE(width) \
    K(transpose_tile##width##_b32x8) { \
        __shared__ float s[32][width]; \
        LOOP for (int y = threadIdx.y; y < 32; y += 8) s[y][T] = in[Z0 + 128 * (Y0 + y) + X0 + T]; \
        __syncthreads(); \
        LOOP for (int y = threadIdx.y; y < 32; y += 8) out[Z0 + 128 * (X0 + y) + Y0 + T] = s[T][y]; \
    }
TRANSPOSE(32)
TRANSPOSE(33)
K(transpose_swizzled_b32x8) {
    __shared__ float s[32][32];
    LOOP for (int y = threadIdx.y; y < 32; y += 8) s[y][T ^ y] = in[Z0 + 128 * (Y0 + y) + X0 + T];
    __syncthreads();
    LOOP for (int y = threadIdx.y; y < 32; y += 8) out[Z0 + 128 * (X0 + y) + Y0 + T] = s[T][y ^ T];
}
K(matmul_naive_b16x16) {
    int x = blockIdx.x % 8 * 16 + T, y = blockIdx.x / 8 * 16 + threadIdx.y;
    float v = 0;
    LOOP for (int k = 0; k < 128; k++) v += in[128 * y + k] * in[n + 128 * k + x];
    out[128 * y + x] = v;
}
K(matmul_tile_b16x16) {
    __shared__ float a[16][16], b[16][16];
    int x = blockIdx.x % 8 * 16 + T, y = blockIdx.x / 8 * 16 + threadIdx.y;
    float v = 0;
    LOOP for (int k = 0; k < 128; k += 16) {
        a[threadIdx.y][T] = in[128 * y + k + T];
        b[threadIdx.y][T] = in[n + 128 * (k + threadIdx.y) + x];
        __syncthreads();
        LOOP for (int j = 0; j < 16; j++) v += a[threadIdx.y][j] * b[j][T];
        __syncthreads();
    }
    out[128 * y + x] = v;
}
K(matmul_registers_b16x16) {
    __shared__ float a[32][17], b[16][32];
    int x = blockIdx.x % 4 * 32, y = blockIdx.x / 4 % 4 * 32, t = threadIdx.y * 16 + T;
    float v[2][2] = {};
    LOOP for (int k = 0; k < 128; k += 16) {
        for (int i = t; i < 512; i += 256) { a[i / 16][i % 16] = in[128 * (y + i / 16) + k + i % 16]; b[i / 32][i % 32] = in[n + 128 * (k + i / 32) + x + i % 32]; }
        __syncthreads();
        LOOP for (int j = 0; j < 16; j++)
            for (int p = 0; p < 2; p++) for (int q = 0; q < 2; q++) v[p][q] += a[threadIdx.y + 16 * p][j] * b[j][T + 16 * q];
        __syncthreads();
    }
    for (int p = 0; p < 2; p++) for (int q = 0; q < 2; q++) out[128 * (y + threadIdx.y + 16 * p) + x + T + 16 * q] = v[p][q];
}
K(matvec_warp) { float v = 0; LOOP for (int i = L; i < 128; i += 32) v += in[128 * (I / 32) + i] * in[n + i]; for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d); if (L == 0) out[I / 32] = v; }

// ---- Stencils -------------------------------------------------------------------------------------------------
K(stencil3) { if (I > 0 && I < n - 1) out[I] = in[I - 1] + 2 * in[I] + in[I + 1]; }
K(stencil_halo) {
    __shared__ float s[264];
    s[T + 4] = in[I + 4];
    if (T < 4) s[T] = in[I];
    if (T >= 252) s[T + 8] = in[I + 8];
    __syncthreads();
    float v = 0;
    LOOP for (int k = 0; k < 9; k++) v += s[T + k];
    out[I] = v;
}
K(stencil5_b32x8) {
    int x = blockIdx.x % 4 * 32 + T, y = blockIdx.x / 4 * 8 + threadIdx.y;
    if (x > 0 && x < 127 && y > 0 && y < 127) out[128 * y + x] = in[128 * y + x] + in[128 * y + x - 1] + in[128 * y + x + 1] + in[128 * (y - 1) + x] + in[128 * (y + 1) + x];
}
K(stencil9_tile_b16x16) {
    __shared__ float s[18][18];
    int x = blockIdx.x % 8 * 16, y = blockIdx.x / 8 * 16, t = 16 * threadIdx.y + T;
    LOOP for (int i = t; i < 18 * 18; i += 256) s[i / 18][i % 18] = in[128 * (y + i / 18) + x + i % 18];
    __syncthreads();
    float v = 0;
    LOOP for (int k = 0; k < 9; k++) v += s[threadIdx.y + k / 3][T + k % 3];
    out[128 * (y + threadIdx.y) + x + T] = v;
}

// ---- Histograms, sorting, searching, streams ------------------------------------------------------------------
K(histogram_global) { atomicAdd((int *)out + ((int)(in[I] * 8) & 63), 1); }
K(histogram_skewed) { atomicAdd((int *)out + (int)(in[I] / 2), 1); }
K(histogram_shared) {
    __shared__ int s[64];
    if (T < 64) s[T] = 0;
    __syncthreads();
    LOOP for (int i = I; i < 4 * n; i += gridDim.x * blockDim.x) atomicAdd(&s[(int)(in[i] * 8) & 63], 1);
    __syncthreads();
    if (T < 64) atomicAdd((int *)out + T, s[T]);
}
K(sort_bitonic) {
    __shared__ float s[256];
    s[T] = in[I];
    __syncthreads();
    LOOP for (int k = 2; k <= 256; k *= 2)
        LOOP for (int j = k / 2; j > 0; j /= 2) {
            int other = T ^ j;
            if (other > T) { float a = s[T], b = s[other]; if ((a > b) == !(T & k)) { s[T] = b; s[other] = a; } }
            __syncthreads();
        }
    out[I] = s[T];
}
K(search_binary) {
    int low = 0, high = n;
    LOOP while (low < high) { int middle = (low + high) / 2; if (in[middle] + middle < I) low = middle + 1; else high = middle; }
    out[I] = (float)low;
}
K(sparse_rows) { float v = 0; LOOP for (int i = 0; i < T % 7; i++) v += in[8 * I + i] * in[h(8 * I + i)]; out[I] = v; }
K(saxpy) { out[I] = 2 * in[I] + out[I]; }
K(saxpy_float4) { float4 a = ((const float4 *)in)[I], b = ((float4 *)out)[I]; ((float4 *)out)[I] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
K(gray) { uchar4 p = ((const uchar4 *)in)[I]; ((u8 *)out)[I] = (u8)((p.x * 77 + p.y * 150 + p.z * 29) >> 8); }
K(gather_scatter) { out[h(I + n)] = in[h(I)]; }
K(chase) { int at = I & 1023; LOOP for (int i = 0; i < 8; i++) at = h(at + (int)in[at]) & 1023; out[I] = (float)at; }
K(softmax_row) {
    float v = in[I], most = v;
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    float e = exp2f(v - most), all = e;
    for (int d = 16; d; d /= 2) all += __shfl_xor_sync(~0u, all, d);
    out[I] = e / all;
}
K(last_block) {
    __shared__ bool last;
    if (T == 0) out[blockIdx.x] = in[I];
    __threadfence();
    if (T == 0) { ((u32 *)out)[1024] = 0; last = atomicInc((u32 *)out + 2048 + blockIdx.x, 1u << 30) == 0; }
    __syncthreads();
    if (last && T < 64) out[4096 + T] = ((volatile float *)out)[T];
}

// ---- Branches -------------------------------------------------------------------------------------------------
K(branch_four_ways) {
    float v;
    switch (T & 3) {
    case 0: v = in[I]; break;
    case 1: v = in[I + n] * 2; break;
    case 2: v = in[2 * I] + in[I + 3]; break;
    default: v = out[I + n]; break;
    }
    out[I] = v;
}
K(branch_nested) { float v = in[I]; if (T & 1) { v += in[I + n]; if (T & 2) { v += in[I + 2 * n]; if (T & 4) v += in[I + 3 * n]; } } out[I] = v; }
K(branch_by_warp) { float v; if (T / 32 % 2) v = in[I]; else v = in[8 * I]; out[I] = v; }
K(branch_data) { float v = in[I]; if (v > 6) v += in[4 * I]; else out[I + n] = v; out[I] = v; }
K(branch_store_sides) { float v = in[I]; if (T % 32 < 10) out[2 * I] = v; else out[I + 4 * n] = v + 1; }
K(loop_lanes) { float v = 0; LOOP for (int i = 0; i <= T % 5; i++) v += in[I + 32 * i]; out[I] = v; }
K(loop_break) { float v = 0; LOOP for (int i = 0; i < 16; i++) { v += in[I + i]; if (v > 40) break; } out[I] = v; }
K(loop_continue) { float v = 0; LOOP for (int i = 0; i < 16; i++) { if ((i ^ T) & 1) continue; v += in[I + i]; } out[I] = v; }
K(loop_collatz) { int steps = 0, x = I + 1; LOOP while (x != 1 && steps < 200) { x = x & 1 ? 3 * x + 1 : x / 2; steps++; } out[I] = (float)steps; }
K(loop_while_data) { float v = in[I]; LOOP while (v < 30) v += in[(int)v + I] + 1; out[I] = v; }
K(exit_odd) { if (T & 1) return; out[I] = in[I]; }
K(exit_loop) { LOOP for (int i = 0; i < 8; i++) { if (T % 8 == i) return; out[i * n + I] = in[i * n + I]; } }
K(short_circuit) { if (in[I] > 4 && in[I + n] > 4 && in[I + 2 * n] > 4) out[I] = 1; }
