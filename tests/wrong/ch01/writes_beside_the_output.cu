// VERDICT: OOB
// MISTAKE: writes-beside-the-output - takes partial for an array of n floats
// DIAGNOSIS: too-many-results
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        partial[i] = sum;
    }
    partial[0] = sum;
}
