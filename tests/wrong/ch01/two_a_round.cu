// VERDICT: WRONG
// MISTAKE: two-a-round - two elements a round: of an odd number the last is left out
// DIAGNOSIS: tail-dropped
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;

    for (int i = 0; i + 1 < n; i += 2) {
        sum += in[i] + in[i + 1];
    }

    partial[0] = sum;
}
