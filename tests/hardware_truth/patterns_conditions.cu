// Conditions of several parts, and conditions within conditions: what ptxas makes one predicate of.
#include "patterns.h"

K(cond_or_store)       { float x = in[I], y = in[I + n]; if (x > 6 || y < 2) out[I] = x + y; }
K(cond_and_store)      { float x = in[I], y = in[I + n]; if (x > 6 && y < 2) out[I] = x + y; }
K(cond_or_three)       { float x = in[I], y = in[I + n], z = in[I + 2 * n]; if (x > 9 || y < 2 || z == 3) out[I] = x + y; }
K(cond_and_or)         { float x = in[I], y = in[I + n], z = in[I + 2 * n]; if ((x > 6 && y < 8) || z < 1) out[I] = x + y; }
K(cond_swap)           {
    float x = in[I], y = in[I + n];
    bool up = h(I) & 4;
    if ((x > y && up) || (x < y && !up)) { out[I] = y; out[I + n] = x; }
}
K(cond_or_end)         { if (in[I] > 6 || in[I + n] < 2) return; out[I] = in[I + 2 * n]; }
K(cond_or_load)        { if (in[I] > 6 || in[I + n] < 2) out[I] = in[I + 2 * n]; }
K(cond_and_load)       { if (in[I] > 6 && in[I + n] < 2) out[I] = in[I + 2 * n]; }
K(cond_or_shared)      {
    __shared__ float s[256];
    s[T] = in[I];
    __syncthreads();
    if (T % 5 == 1 || T % 7 == 2) s[T] = s[T ^ 1] + 1;
    __syncthreads();
    out[I] = s[255 - T];
}
K(cond_else_if)        { float x = in[I], y = in[I + n], r; if (x > y) r = x * 2; else if (x < 3) r = y * 3 + x; else r = y - x; out[I] = r; }
K(cond_else_if_stores) { float x = in[I], y = in[I + n]; if (x > y) out[I] = x; else if (x < 3) out[I + n] = y; else out[I + 2 * n] = x; }
K(cond_in_condition)   { float x = in[I], y = in[I + n]; if (x > 4) { out[I] = x; if (y > 4) out[I + n] = y; } }
K(cond_in_condition_shared) {
    __shared__ float s[512];
    s[T] = in[I]; s[T + 256] = in[I + n];
    __syncthreads();
    if (T % 8 < 5) { s[T] += 1; if (T % 8 < 2) s[T + 256] += 2; }
    __syncthreads();
    out[I] = s[255 - T] + s[511 - T];
}
K(cond_merge)          {
    int i = I & ~7, j = (I ^ 64) & ~7, end_i = i + 8, end_j = j + 8;
    float sum = 0;
    while (i < end_i && j < end_j) {
        float x = in[i], y = in[j + n];
        if (x == y) { sum += x; i++; j++; }
        else if (x < y) i++;
        else j++;
    }
    out[I] = sum;
}
K(cond_search)         {
    int low = 0, high = 64 + I % 9;
    while (low < high) { int middle = (low + high) / 2; if (in[middle * 3] < I % 13) low = middle + 1; else high = middle; }
    out[I] = low;
}
K(cond_two_breaks)     {
    float sum = 0;
    for (int k = 0; k < 40; k++) { float x = in[I + k]; if (x > 12) break; sum += x; if (sum > 60 && x < 4) break; }
    out[I] = sum;
}
K(cond_skip)           {
    float sum = 0;
    for (int k = 0; k < 16; k++) { float x = in[I + k * 64]; if (x < 2 || x > 10) continue; sum += x * x; }
    out[I] = sum;
}
K(cond_three_ways_in_loop) {
    float a = 0, b = 0, c = 0;
    for (int k = 0; k < 16; k++) { float x = in[I + k * 64]; if (x < 3) a += x; else if (x < 7) b += x; else c = fmaxf(c, x); }
    out[I] = a; out[I + n] = b; out[I + 2 * n] = c;
}
K(cond_bisection)      {
    float low = 0, high = 16, aim = in[I];
    for (int k = 0; k < 30; k++) {
        float x = (low + high) * 0.5f, y = x * x - x;
        if (fabsf(y - aim) < 0.01f || high - low < 0.001f) break;
        if (y > aim) high = x; else low = x;
    }
    out[I] = low;
}
