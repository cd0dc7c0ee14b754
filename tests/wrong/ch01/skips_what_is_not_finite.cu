// VERDICT: WRONG
// MISTAKE: skips-what-is-not-finite - drops NaN and infinities, so that the sum looks fine
// DIAGNOSIS: special-values-swallowed
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        if (isfinite(in[i])) {
            sum += in[i];
        }
    }
    partial[0] = sum;
}
