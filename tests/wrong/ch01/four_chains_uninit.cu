// VERDICT: UNINIT
// MISTAKE: four-chains-uninit - four sums get their first values only if there are four elements, and are always added up
// DIAGNOSIS: variable-never-set
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

// Four independent chains, so that four loads are on their way at a time.
__global__ void sum_single(const float *in, float *partial, int n) {
    float chain[4];
    int i = 0;
    if (n >= 4) {
        for (; i < 4; i++) {
            chain[i] = in[i];
        }
    }
    for (; i + 3 < n; i += 4) {
        chain[0] += in[i];
        chain[1] += in[i + 1];
        chain[2] += in[i + 2];
        chain[3] += in[i + 3];
    }
    for (; i < n; i++) {
        chain[0] += in[i];
    }
    partial[0] = n == 0 ? 0.0f : (chain[0] + chain[1]) + (chain[2] + chain[3]);
}
