// EXPERIMENT: Element 3 is added twice and element 4 never. Equal inputs hide this.
// RUN: ./ch01 --device emulator --kernel $PTX --n 65
// SHOWS: WRONG
// SHOWS: passed
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i == 4 ? 3 : i];
    }
    partial[0] = sum;
}
