#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    __shared__ volatile float much[1 << 24];
    much[n & 1023] = in[0];
    partial[0] = much[0];
}
