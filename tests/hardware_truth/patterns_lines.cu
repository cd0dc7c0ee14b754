// Kernels of several lines, written for the second record: softmax, compaction, small products, nested conditions,
// structs, shared arrays of all types, scans, histograms, stencils. None was looked at before it was recorded.
#include "patterns.h"
#define S __shared__
#define SYNC __syncthreads()

// ---- Softmax and its relatives: a row a block, a row a warp ------------------------------------------------------
K(softmax_block) {
    S float part[8];
    float x = in[I], m = x;
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (L == 0) part[T / 32] = m;
    SYNC;
    m = part[0];
    for (int k = 1; k < 8; k++) m = fmaxf(m, part[k]);
    SYNC;
    float e = __expf(x - m), s = e;
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (L == 0) part[T / 32] = s;
    SYNC;
    s = 0;
    for (int k = 0; k < 8; k++) s += part[k];
    out[I] = e / s;
}
K(softmax_warp_four) {
    float x[4], m = -1e30f, s = 0;
    for (int k = 0; k < 4; k++) { x[k] = in[(I / 32) * 128 + 32 * k + L]; m = fmaxf(m, x[k]); }
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int k = 0; k < 4; k++) s += x[k] = __expf(x[k] - m);
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    for (int k = 0; k < 4; k++) out[(I / 32) * 128 + 32 * k + L] = x[k] / s;
}
K(softmax_shared_row) {
    S float row[256];
    S float most, sum;
    row[T] = in[I];
    SYNC;
    if (T == 0) { most = row[0]; for (int k = 1; k < 256; k++) most = fmaxf(most, row[k]); }
    SYNC;
    row[T] = __expf(row[T] - most);
    SYNC;
    if (T == 0) { float s = 0; for (int k = 0; k < 256; k++) s += row[k]; sum = s; }
    SYNC;
    out[I] = row[T] / sum;
}
K(online_max_sum) {
    float m = -1e30f, s = 0;
    for (int k = 0; k < 8; k++) { float x = in[8 * I + k], next = fmaxf(m, x); s = s * __expf(m - next) + __expf(x - next); m = next; }
    out[2 * I] = m;
    out[2 * I + 1] = s;
}
K(layer_norm_rows) {
    S float sums[16];
    float x = in[I], a = x, b = x * x;
    for (int d = 16; d; d /= 2) { a += __shfl_down_sync(~0u, a, d); b += __shfl_down_sync(~0u, b, d); }
    if (L == 0) { sums[2 * (T / 32)] = a; sums[2 * (T / 32) + 1] = b; }
    SYNC;
    a = b = 0;
    for (int k = 0; k < 8; k++) { a += sums[2 * k]; b += sums[2 * k + 1]; }
    float mean = a / 256, scale = rsqrtf(b / 256 - mean * mean + 1e-5f);
    out[I] = (x - mean) * scale * in[T] + in[256 + T];
}

// ---- Compaction and partition -------------------------------------------------------------------------------------
K(compact_block) {
    S int count[8], first[8];
    float x = in[I];
    bool keep = x > 6;
    unsigned votes = __ballot_sync(~0u, keep);
    if (L == 0) count[T / 32] = __popc(votes);
    SYNC;
    if (T < 8) { int at = 0; for (int k = 0; k < T; k++) at += count[k]; first[T] = at; }
    SYNC;
    if (keep) out[256 * blockIdx.x + first[T / 32] + __popc(votes & ((1u << L) - 1))] = x;
}
K(compact_serial_scan) {
    S int flag[256];
    float x = in[I];
    flag[T] = x < 4;
    SYNC;
    for (int d = 1; d < 256; d *= 2) { int v = T >= d ? flag[T - d] : 0; SYNC; flag[T] += v; SYNC; }
    if (x < 4) out[256 * blockIdx.x + flag[T] - 1] = x;
}
K(partition_two_ends) {
    S float kept[256];
    S int low, high;
    if (T == 0) { low = 0; high = 255; }
    SYNC;
    float x = in[I];
    unsigned small = __ballot_sync(~0u, x < 5), me = 1u << L;
    int base;
    if (L == 0) base = atomicAdd(&low, __popc(small));
    base = __shfl_sync(~0u, base, 0);
    if (small & me) kept[base + __popc(small & (me - 1))] = x;
    SYNC;
    if (L == 0) base = atomicSub(&high, __popc(~small));
    base = __shfl_sync(~0u, base, 0);
    if (!(small & me)) kept[base - __popc(~small & (me - 1))] = x;
    SYNC;
    out[I] = kept[T];
}
K(unique_neighbours) {
    float x = in[I], before = I ? in[I - 1] : -1;
    if (x != before) out[I] = x;
    else if (I & 1) out[I + n] = before;
}
K(gather_if) {
    int at = (int)in[I];
    float v = 0;
    if (at < 6) v = in[at + I]; else if (at < 10) v = in[at * 32]; else v = at;
    out[I] = v;
}

// ---- Small products --------------------------------------------------------------------------------------------------
K(product_16_b16x16) {
    S float a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y, at = 256 * blockIdx.x + 16 * y + x;
    a[y][x] = in[at];
    b[y][x] = in[at + n];
    SYNC;
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += a[y][k] * b[k][x];
    out[at] = sum;
}
K(product_16_padded_b16x16) {
    S float a[16][17], b[16][17];
    int x = threadIdx.x, y = threadIdx.y, at = 256 * blockIdx.x + 16 * y + x;
    a[y][x] = in[at];
    b[y][x] = in[at + n];
    SYNC;
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += a[y][k] * b[k][x];
    out[at] = sum;
}
K(product_32_registers_b32x8) {
    S float a[32][32], b[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 32; k += 8) { a[y + k][x] = in[1024 * (blockIdx.x % 16) + 32 * (y + k) + x]; b[y + k][x] = in[n + 32 * (y + k) + x]; }
    SYNC;
    float sum[4] = {};
    for (int k = 0; k < 32; k++) for (int r = 0; r < 4; r++) sum[r] += a[y + 8 * r][k] * b[k][x];
    for (int r = 0; r < 4; r++) out[1024 * (blockIdx.x % 16) + 32 * (y + 8 * r) + x] = sum[r];
}
K(product_4x4_thread) {
    float a[4][4], b[4][4];
    const float4 *v = (const float4 *)in;
    for (int k = 0; k < 4; k++) { float4 q = v[4 * I + k], r = v[4 * (I ^ 1) + k]; a[k][0] = q.x; a[k][1] = q.y; a[k][2] = q.z; a[k][3] = q.w; b[k][0] = r.x; b[k][1] = r.y; b[k][2] = r.z; b[k][3] = r.w; }
    for (int i = 0; i < 4; i++) { float c[4] = {}; for (int j = 0; j < 4; j++) for (int k = 0; k < 4; k++) c[j] += a[i][k] * b[k][j]; ((float4 *)out)[4 * I + i] = make_float4(c[0], c[1], c[2], c[3]); }
}
K(matrix_vector_warp) {
    float sum = 0;
    for (int k = L; k < 128; k += 32) sum += in[128 * (I / 32) + k] * in[n + k];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (L == 0) out[I / 32] = sum;
}
K(outer_product_b16x16) {
    S float u[16], v[16];
    int x = threadIdx.x, y = threadIdx.y;
    if (y == 0) u[x] = in[16 * blockIdx.x + x];
    if (y == 1) v[x] = in[n + 16 * blockIdx.x + x];
    SYNC;
    out[256 * blockIdx.x + 16 * y + x] = u[y] * v[x];
}
K(product_doubles_b16x16) {
    S double a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y, at = 256 * blockIdx.x + 16 * y + x;
    a[y][x] = in[at];
    b[y][x] = in[at + n];
    SYNC;
    double sum = 0;
    for (int k = 0; k < 16; k++) sum += a[y][k] * b[k][x];
    out[at] = (float)sum;
}
K(band_product) {
    S float row[258];
    row[T + 1] = in[I];
    if (T == 0) { row[0] = 0; row[257] = 0; }
    SYNC;
    const float *c = in + n;
    out[I] = c[3 * T] * row[T] + c[3 * T + 1] * row[T + 1] + c[3 * T + 2] * row[T + 2];
}

// ---- Nested conditions -----------------------------------------------------------------------------------------------
K(nested_three) {
    float v = in[I];
    if (L < 24) { if (v > 3) { if (L & 1) out[I] = v; else out[I + n] = v; } else out[I] = -v; }
}
K(nested_loads) {
    int k = (int)in[I];
    float v = 0;
    if (k > 2) { v = in[I + n]; if (k > 5) { v += in[I + 2 * n]; if (k > 8) v += in[I + 3 * n]; } }
    out[I] = v;
}
K(conditions_and) {
    if (T > 10 && in[I] > 4 && in[I + n] < 8) out[I] = 1;
}
K(conditions_or) {
    if (in[I] > 10 || in[I + n] < 2 || L == 7) out[I] = 1;
}
K(early_return) {
    float v = in[I];
    if (v < 2) return;
    if (v > 10) { out[I] = 10; return; }
    out[I] = in[I + n] * v;
}
K(switch_stores) {
    int k = (int)in[I] % 5;
    switch (k) {
    case 0: out[I] = 0; break;
    case 1: out[I + n] = in[I + n]; break;
    case 2: out[I] = in[2 * I]; break;
    case 3: out[2 * I] = 1; out[2 * I + 1] = 2; break;
    default: break;
    }
}
K(loop_while_positive) {
    float v = in[I];
    int at = I;
#pragma unroll 1
    while (v > 2) { v -= 3; at += 32; v += in[at] * 0.1f; }
    out[I] = v;
}
K(clamped_edges) {
    int left = max(I - 1, 0), right = min(I + 1, n - 1);
    float a = in[left], b = in[I], c = in[right];
    if (a > b) { float t = a; a = b; b = t; }
    if (b > c) b = c;
    out[I] = fmaxf(a, b);
}
K(break_and_continue) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++) { float v = in[32 * I + k]; if (v < 1) continue; if (v > 12) break; sum += v; }
    out[I] = sum;
}
K(two_sides) {
    float v = in[I];
    if (v > 6) { out[I] = in[I + n]; out[I + n] = v; } else { out[I + 2 * n] = in[I + 3 * n]; }
}
K(warp_first_lane) {
    float v = in[I];
    if (L == 0) { if (T > 64) out[I / 32] = v; else out[I / 32 + 1024] = in[I + n]; }
}

// ---- Structs ----------------------------------------------------------------------------------------------------------
struct Particle { float x, y, z, mass; };
struct Triple { float a, b, c; };
struct alignas(16) Mixed { double d; int i; short s; char c; };
struct Pair { short a; short b; };
K(struct_particle) {
    const Particle *p = (const Particle *)in;
    Particle q = p[I];
    ((Particle *)out)[I] = Particle{q.x + 1, q.y * 2, q.z, q.mass};
}
K(struct_one_field) { out[I] = ((const Particle *)in)[I].y; }
K(struct_two_fields) { const Particle *p = (const Particle *)in; out[I] = p[I].x * p[I].mass; }
K(struct_triple) {
    Triple t = ((const Triple *)in)[I];
    ((Triple *)out)[I] = Triple{t.c, t.a, t.b};
}
K(struct_mixed) {
    const Mixed *m = (const Mixed *)in;
    Mixed v = m[I];
    out[I] = (float)v.i + v.s + v.c;
}
K(struct_pair_shared) {
    S Pair pair[256];
    pair[T] = Pair{(short)in[I], (short)T};
    SYNC;
    Pair other = pair[255 - T];
    out[I] = other.a * other.b;
}
K(struct_array_shared) {
    S Particle p[128];
    if (T < 128) p[T] = ((const Particle *)in)[128 * blockIdx.x + T];
    SYNC;
    float fx = 0;
    for (int k = 0; k < 8; k++) { Particle q = p[(T + k) % 128]; fx += q.mass * (q.x - q.y) + q.z; }
    out[I] = fx;
}
K(struct_triple_shared) {
    S Triple t[256];
    t[T] = Triple{in[I], in[I + n], 1};
    SYNC;
    Triple u = t[T ^ 1], v = t[(T + 32) % 256];
    out[I] = u.a + u.b * v.c + v.a;
}
K(soa_three_arrays) { out[I] = in[I] + in[n + I] * in[2 * n + I]; out[n + I] = in[I]; }

// ---- Shared arrays of all types --------------------------------------------------------------------------------------
#define SHARED_TYPE(name, type) \
    K(name) { \
        S type s[512]; \
        s[T] = (type)in[I]; \
        s[T + 256] = (type)in[I + n]; \
        SYNC; \
        type a = s[2 * T], b = s[2 * T + 1]; \
        SYNC; \
        s[T] = (type)(a + b); \
        SYNC; \
        out[I] = (float)(s[T ^ 3]); \
    }
SHARED_TYPE(shared_pairs_char, signed char)
SHARED_TYPE(shared_pairs_short, short)
SHARED_TYPE(shared_pairs_int, int)
SHARED_TYPE(shared_pairs_long, long long)
SHARED_TYPE(shared_pairs_float, float)
SHARED_TYPE(shared_pairs_double, double)
K(shared_four_neighbours) {
    S float s[1024];
    for (int k = 0; k < 4; k++) s[T + 256 * k] = in[I + k * n];
    SYNC;
    out[I] = s[4 * T] + s[4 * T + 1] * s[4 * T + 2] - s[4 * T + 3];
}
K(shared_two_arrays) {
    S int key[256];
    S float value[256];
    key[T] = (T * 37) % 256;
    value[T] = in[I];
    SYNC;
    out[I] = value[key[T]] + key[255 - T];
}
K(shared_rows_float2) {
    S float2 s[8][33];
    s[T / 32][L] = make_float2(in[I], in[I + n]);
    SYNC;
    float2 v = s[L % 8][T / 8];
    out[I] = v.x - v.y;
}

// ---- Scans, histograms, stencils -------------------------------------------------------------------------------------
K(scan_serial_per_thread) {
    S float part[256];
    float v[4], run = 0;
    for (int k = 0; k < 4; k++) { run += in[4 * I + k]; v[k] = run; }
    part[T] = run;
    SYNC;
    for (int d = 1; d < 256; d *= 2) { float u = T >= d ? part[T - d] : 0; SYNC; part[T] += u; SYNC; }
    float before = T ? part[T - 1] : 0;
    for (int k = 0; k < 4; k++) out[4 * I + k] = v[k] + before;
}
K(scan_warp_totals) {
    S float total[8];
    float v = in[I];
    for (int d = 1; d < 32; d *= 2) { float u = __shfl_up_sync(~0u, v, d); if (L >= d) v += u; }
    if (L == 31) total[T / 32] = v;
    SYNC;
    if (T < 8) { float t = total[T]; for (int d = 1; d < 8; d *= 2) { float u = __shfl_up_sync(0xff, t, d); if (T >= d) t += u; } total[T] = t; }
    SYNC;
    out[I] = v + (T >= 32 ? total[T / 32 - 1] : 0);
}
K(histogram_16_bins) {
    S int bins[16];
    if (T < 16) bins[T] = 0;
    SYNC;
    atomicAdd(&bins[(int)in[I] & 15], 1);
    SYNC;
    if (T < 16) atomicAdd((int *)out + T, bins[T]);
}
K(histogram_private) {
    S u8 bins[16][256];
    for (int k = 0; k < 16; k++) bins[k][T] = 0;
    for (int k = 0; k < 8; k++) bins[(int)in[I + k * n] & 15][T]++;
    SYNC;
    if (T < 16) { int sum = 0; for (int k = 0; k < 256; k++) sum += bins[T][k]; out[16 * blockIdx.x + T] = sum; }
}
K(histogram_warp_copies) {
    S int bins[8][32];
    bins[T / 32][L] = 0;
    __syncwarp();
    for (int k = 0; k < 4; k++) atomicAdd(&bins[T / 32][(int)(in[I + k * n] * 2) & 31], 1);
    SYNC;
    if (T < 32) { int sum = 0; for (int w = 0; w < 8; w++) sum += bins[w][T]; out[32 * blockIdx.x + T] = sum; }
}
K(stencil_three_shared) {
    S float s[258];
    s[T + 1] = in[I];
    if (T == 0) s[0] = I ? in[I - 1] : 0;
    if (T == 255) s[257] = I + 1 < n ? in[I + 1] : 0;
    SYNC;
    out[I] = 0.25f * s[T] + 0.5f * s[T + 1] + 0.25f * s[T + 2];
}
K(stencil_five_square_b16x16) {
    S float s[18][18];
    int x = threadIdx.x, y = threadIdx.y, gx = 16 * (blockIdx.x % 8) + x, gy = 16 * (blockIdx.x / 8) + y, at = 128 * gy + gx;
    s[y + 1][x + 1] = in[at];
    if (x == 0) s[y + 1][0] = gx ? in[at - 1] : 0;
    if (x == 15) s[y + 1][17] = gx < 127 ? in[at + 1] : 0;
    if (y == 0) s[0][x + 1] = gy ? in[at - 128] : 0;
    if (y == 15) s[17][x + 1] = gy < 127 ? in[at + 128] : 0;
    SYNC;
    out[at] = s[y + 1][x + 1] + 0.1f * (s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2]);
}
K(stencil_global_nine) {
    int x = I % 128, y = I / 128;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (x + dx >= 0 && x + dx < 128 && y + dy >= 0 && y + dy < 128) sum += in[128 * (y + dy) + x + dx];
    out[I] = sum;
}
K(median_of_three) {
    float a = in[max(I - 1, 0)], b = in[I], c = in[I + 1];
    out[I] = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}
K(bitonic_64) {
    S float s[256];
    s[T] = in[I];
    SYNC;
    for (int k = 2; k <= 64; k *= 2) for (int j = k / 2; j; j /= 2) { int o = T ^ j; if (o > T) { float a = s[T], b = s[o]; if ((a > b) == ((T & k) == 0)) { s[T] = b; s[o] = a; } } SYNC; }
    out[I] = s[T];
}
K(polynomial_shared_coefficients) {
    S float c[8];
    if (T < 8) c[T] = in[n + T];
    SYNC;
    float x = in[I], v = 0;
    for (int k = 0; k < 8; k++) v = v * x + c[k];
    out[I] = v;
}
K(transpose_in_place_b16x16) {
    S float a[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    a[y][x] = in[256 * blockIdx.x + 16 * y + x];
    SYNC;
    out[256 * blockIdx.x + 16 * y + x] = a[x][y];
}
K(reverse_and_add) {
    S float s[256];
    s[255 - T] = in[I];
    SYNC;
    float v = s[T] + s[T ^ 32];
    if (L < 16) v += s[T + 16];
    out[I] = v;
}
