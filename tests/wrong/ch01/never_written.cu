// VERDICT: WRONG
// MISTAKE: never-written - the sum is computed and goes nowhere
// DIAGNOSIS: never-written
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
    if (n < 0) {
        partial[0] = sum;
    }
}
