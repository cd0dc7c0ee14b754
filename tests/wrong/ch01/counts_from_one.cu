// VERDICT: OOB
// MISTAKE: counts-from-one - counts from 1 to n, as other languages do
// DIAGNOSIS: one-past-the-end
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;

    for (int i = 1; i <= n; i++) {
        sum += in[i];
    }

    partial[0] = sum;
}
