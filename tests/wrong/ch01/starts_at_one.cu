// VERDICT: WRONG
// MISTAKE: starts-at-one - the first element is left out, as in languages that count from 1
// DIAGNOSIS: first-element-left-out
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 1; i < n; i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
