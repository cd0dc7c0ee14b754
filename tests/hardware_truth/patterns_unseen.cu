// Written after the rules for joined accesses and gathered atomics were found, and recorded before the emulator had
// run them: how often it agrees with an H200 about kernels that nobody looked at.
#include "patterns.h"
#define S __shared__
#define SYNC __syncthreads()

K(u_variance) {
    S float part[2][8];
    float x = in[I], q = x * x;
    for (int d = 16; d; d /= 2) { x += __shfl_xor_sync(~0u, x, d); q += __shfl_xor_sync(~0u, q, d); }
    if (L == 0) { part[0][T / 32] = x; part[1][T / 32] = q; }
    SYNC;
    float a = 0, b = 0;
    for (int k = 0; k < 8; k++) { a += part[0][k]; b += part[1][k]; }
    out[I] = b / 256 - a * a / 65536;
}
K(u_softmax_two_rows) {
    S float row[2][256];
    row[0][T] = in[I]; row[1][T] = in[I + n];
    SYNC;
    float m = fmaxf(row[0][T ^ 128], row[1][T ^ 128]);
    SYNC;
    row[T & 1][T] = __expf(row[T & 1][T] - m);
    SYNC;
    out[I] = row[0][255 - T] / (1 + row[1][T]);
}
K(u_product_8x8) {
    S float a[4][8][8], b[4][8][8];
    int m = T / 64, y = T / 8 % 8, x = T % 8;
    a[m][y][x] = in[I]; b[m][y][x] = in[I + n];
    SYNC;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += a[m][y][k] * b[m][k][x];
    out[I] = sum;
}
K(u_product_rows_times_rows) {
    S float a[16][16], b[16][16];
    int y = T / 16, x = T % 16;
    a[y][x] = in[I]; b[y][x] = in[I + n];
    SYNC;
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += a[y][k] * b[x][k];
    out[I] = sum;
}
K(u_product_register_2x2_b16x16) {
    S float a[32][32], b[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 4; k++) { int i = 256 * k + 16 * y + x; (&a[0][0])[i] = in[1024 * (blockIdx.x % 16) + i]; (&b[0][0])[i] = in[n + i]; }
    SYNC;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    for (int k = 0; k < 32; k++) { float p = a[2 * y][k], q = a[2 * y + 1][k], r = b[k][2 * x], s = b[k][2 * x + 1]; c00 += p * r; c01 += p * s; c10 += q * r; c11 += q * s; }
    float *to = out + 1024 * (blockIdx.x % 16);
    to[64 * y + 2 * x] = c00; to[64 * y + 2 * x + 1] = c01; to[64 * y + 32 + 2 * x] = c10; to[64 * y + 33 + 2 * x] = c11;
}
K(u_compact_two_kinds) {
    S int kind[2];
    S float buffer[2][256];
    if (T < 2) kind[T] = 0;
    SYNC;
    float x = in[I];
    int which = x > 5;
    int at = atomicAdd(&kind[which], 1);
    buffer[which][at] = 1;
    SYNC;
    out[I] = buffer[T & 1][T] + kind[T & 1];
}
K(u_count_above) {
    S int count;
    if (T == 0) count = 0;
    SYNC;
    unsigned v = __ballot_sync(~0u, in[I] > 7);
    if (L == 0) atomicAdd(&count, __popc(v));
    SYNC;
    if (T == 0) out[blockIdx.x] = count;
}
K(u_count_global) {
    int hits = 0;
    for (int k = 0; k < 4; k++) hits += in[I + k * n] > 3;
    atomicAdd((int *)out, hits);
}
K(u_max_global) { atomicMax((int *)out + 5, (int)(in[I] * 8)); }
K(u_if_else_stores) {
    float v = in[I];
    if (v > 8) out[I] = v * 2; else out[I] = v / 3;
}
K(u_if_loads_inside) {
    float v = in[I];
    if (v > 4) v += in[I + n]; else v -= in[I + 2 * n];
    out[I] = v;
}
K(u_guarded_chain) {
    if (I < n - 100) { float v = in[I]; if (v > 1) { v += in[I + 1]; if (v > 12) out[I] = v; } }
}
K(u_lane_roles) {
    float v = in[I];
    if (L < 8) out[I] = v + in[I + n]; else if (L < 16) out[I] = v * v; else if (L < 24) out[I + n] = v;
}
struct U3 { float x, y, z; int tag; };
struct U2 { double a; float b; };
K(u_struct_four_shared) {
    S U3 s[256];
    s[T] = U3{in[I], in[I + n], in[I + 2 * n], T};
    SYNC;
    U3 v = s[(T * 5) % 256];
    out[I] = v.x + v.y * v.z + v.tag;
}
K(u_struct_double_float) {
    S U2 s[128];
    if (T < 128) s[T] = U2{in[I], in[I + n]};
    SYNC;
    out[I] = (float)s[T / 2].a * s[127 - T / 2].b;
}
K(u_struct_array_global) { U3 v = ((const U3 *)in)[I]; out[I] = v.x * v.z; out[I + n] = v.tag; }
K(u_shared_ints_strided) {
    S int s[768];
    for (int k = 0; k < 3; k++) s[T + 256 * k] = (int)in[I + k * n];
    SYNC;
    out[I] = s[3 * T] + s[3 * T + 1] - s[3 * T + 2];
}
K(u_shared_six) {
    S float s[1536];
    for (int k = 0; k < 6; k++) s[T + 256 * k] = in[I + k * n];
    SYNC;
    float v = 0;
    for (int k = 0; k < 6; k++) v += s[6 * T + k] * k;
    out[I] = v;
}
K(u_shared_doubles_four) {
    S double s[1024];
    for (int k = 0; k < 4; k++) s[T + 256 * k] = in[I + k * n];
    SYNC;
    out[I] = (float)(s[4 * T] - s[4 * T + 1] + s[4 * T + 2] * s[4 * T + 3]);
}
K(u_shared_bytes_four) {
    S u8 s[1024];
    for (int k = 0; k < 4; k++) s[T + 256 * k] = (u8)in[I + k * n];
    SYNC;
    out[I] = s[4 * T] + s[4 * T + 1] + s[4 * T + 2] + s[4 * T + 3];
}
K(u_scan_pairs) {
    S float s[512];
    s[2 * T] = in[2 * I]; s[2 * T + 1] = in[2 * I + 1];
    SYNC;
    float pair = s[2 * T] + s[2 * T + 1];
    SYNC;
    s[T] = pair;
    SYNC;
    for (int d = 1; d < 256; d *= 2) { float u = T >= d ? s[T - d] : 0; SYNC; s[T] += u; SYNC; }
    out[I] = s[T];
}
K(u_histogram_of_shorts) {
    S int bins[64];
    if (T < 64) bins[T] = 0;
    SYNC;
    const short *h = (const short *)in;
    for (int k = 0; k < 2; k++) atomicAdd(&bins[h[I + k * n] & 63], k + 1);
    SYNC;
    if (T < 64) out[64 * blockIdx.x + T] = bins[T];
}
K(u_stencil_line_wide) {
    S float s[264];
    s[T + 4] = in[I];
    if (T < 4) { s[T] = I >= 4 ? in[I - 4] : 0; s[T + 260] = in[I + 256]; }
    SYNC;
    float v = 0;
    for (int k = 0; k < 9; k++) v += s[T + k];
    out[I] = v;
}
K(u_stencil_rows_b32x8) {
    S float s[10][32];
    int x = threadIdx.x, y = threadIdx.y, at = 256 * blockIdx.x + 32 * y + x;
    s[y + 1][x] = in[at];
    if (y == 0) s[0][x] = in[at + n];
    if (y == 7) s[9][x] = in[at + 2 * n];
    SYNC;
    out[at] = s[y][x] + 2 * s[y + 1][x] + s[y + 2][x];
}
K(u_moving_window) {
    float a = in[8 * I], b = in[8 * I + 1], c;
    for (int k = 2; k < 8; k++) { c = in[8 * I + k]; out[8 * I + k] = a + b + c; a = b; b = c; }
}
K(u_table_lookup) {
    S float table[64];
    if (T < 64) table[T] = in[n + T];
    SYNC;
    int i = (int)in[I];
    out[I] = table[i] * table[63 - i] + table[T & 63];
}
K(u_swap_halves) {
    S float4 s[128];
    if (T < 128) s[T] = ((const float4 *)in)[128 * blockIdx.x + T];
    SYNC;
    if (T < 128) ((float4 *)out)[128 * blockIdx.x + T] = s[(T + 64) % 128];
}
K(u_dot_by_column) {
    S float a[8][32];
    a[T / 32][L] = in[I];
    SYNC;
    float v = 0;
    if (T < 32) { for (int k = 0; k < 8; k++) v += a[k][T] * a[7 - k][T]; out[32 * blockIdx.x + T] = v; }
}
K(u_row_of_eight) {
    S float a[32][8];
    a[T / 8][T % 8] = in[I];
    SYNC;
    if (T < 32) { float v = 0; for (int k = 0; k < 8; k++) v += a[T][k] * k; out[32 * blockIdx.x + T] = v; }
}
