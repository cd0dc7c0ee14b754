// VERDICT: OOB
// MISTAKE: first-outside - begins with in[0], without asking whether there is one
// DIAGNOSIS: empty-array-not-considered
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = in[0];

    for (int i = 1; i < n; i++) {
        sum += in[i];
    }

    partial[0] = sum;
}
