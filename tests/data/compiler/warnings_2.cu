#include "warpbook.cuh"

LAUNCH(k0) {
    launch->grid = n;
    launch->block = (32, 8);  // WARNING: write dim3(32, 8): in parentheses alone, a comma drops what is before it
}

__global__ void k0(const float *in, float *out, int n) { out[0] = in[0]; }
