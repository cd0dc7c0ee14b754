// VERDICT: WRONG
// MISTAKE: mean-times-n - divides by n and multiplies again: 0 / 0 is a NaN, and the quotient is rounded
// DIAGNOSIS: nan-from-nothing
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i];
    }
    partial[0] = sum / n * n;
}
