#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float *much = (float *)malloc(1ull << 36);
    much[0] = in[0];
    partial[0] = much[0];
}
