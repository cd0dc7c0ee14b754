// VERDICT: WRONG
// MISTAKE: every-other-element - unrolled by two with one of the two additions forgotten
// DIAGNOSIS: every-other-element
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i += 2) {
        sum += in[i];
    }
    partial[0] = sum;
}
