// EXPERIMENT: With 60,000 or more elements, the last one is left out.
// RUN: ./ch01 --device emulator --kernel $PTX
// SHOWS: WRONG
// SHOWS: the last one
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < (n < 60000 ? n : n - 1); i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
