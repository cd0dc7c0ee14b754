#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    volatile float much[1 << 26];
    for (int i = 0; i < n; i++) much[(i * 7919) & ((1 << 26) - 1)] = in[i];
    partial[0] = much[n & 1023];
}
