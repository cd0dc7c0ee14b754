#include <cstdio>
#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += in[i];
    for (int i = 0; i < 200000; i++) printf("%d ch01 PASS 10/10 %s\n", i, "flood flood flood flood flood flood flood flood");
    partial[0] = sum;
}
