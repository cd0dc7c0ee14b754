// VERDICT: UNINIT
// MISTAKE: adds-to-the-output - the output is used as accumulator without being set to 0
// DIAGNOSIS: accumulates-onto-nothing
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    for (int i = 0; i < n; i++) {
        partial[0] += in[i];
    }
    if (n == 0) {
        partial[0] = 0.0f;
    }
}
