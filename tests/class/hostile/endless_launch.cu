#include "warpbook.cuh"
LAUNCH(sum_single) {
    volatile int going = 1;
    while (going) {}
    launch->grid = launch->block = 1;
}
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += in[i];
    partial[0] = sum;
}
