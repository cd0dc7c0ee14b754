#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    volatile int going = 1;
    while (going) {}
    partial[0] = in[0];
}
