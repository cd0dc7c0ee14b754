// VERDICT: REJECT
// MISTAKE: another-parameter - n is a long long, and the chapter passes an int
// DIAGNOSIS: parameters-changed
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, long long n) {
    float sum = 0.0f;
    for (long long i = 0; i < n; i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
