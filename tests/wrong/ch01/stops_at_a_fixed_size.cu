// VERDICT: WRONG
// MISTAKE: stops-at-a-fixed-size - the size of the first test is built in
// DIAGNOSIS: size-built-in
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < min(n, 1024); i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
