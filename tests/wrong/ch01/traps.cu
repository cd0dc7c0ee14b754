// VERDICT: FAULT
// MISTAKE: traps - an assertion about the input that does not hold
// DIAGNOSIS: failed-assert
#include <assert.h>

#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        assert(in[i] >= 0.0f);
        sum += in[i];
    }
    partial[0] = sum;
}
