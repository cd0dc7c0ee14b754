// VERDICT: WRONG
// MISTAKE: sum-is-an-int - keeps the sum in an int
// DIAGNOSIS: fractions-cut-off
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    int sum = 0;

    for (int i = 0; i < n; i++) {
        sum += in[i];
    }

    partial[0] = sum;
}
