// VERDICT: WRONG
// MISTAKE: begins-at-one - the sum begins at 1
// DIAGNOSIS: starts-above-zero
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 1.0f;

    for (int i = 0; i < n; i++) {
        sum += in[i];
    }

    partial[0] = sum;
}
