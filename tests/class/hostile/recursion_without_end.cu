#include "warpbook.cuh"
__device__ __noinline__ float deeper(const float *in, int n) {
    volatile float kept[64];
    kept[n & 63] = in[0];
    return kept[0] + (n < 0 ? 0 : deeper(in, n + 1 - (n == 2000000000)));
}
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    partial[0] = n > 0 ? deeper(in, n) : 0;
}
