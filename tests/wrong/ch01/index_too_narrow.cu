// VERDICT: OOB
// MISTAKE: index-too-narrow - a short for an index, which ends before the array does
// DIAGNOSIS: index-overflow
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (short i = 0; i < n; i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
