#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
#pragma unroll
    for (int a = 0; a < 4096; a++)
#pragma unroll
        for (int b = 0; b < 4096; b++) sum += in[(a * 31 + b) % n] * sum;
    partial[0] = sum;
}
