// VERDICT: OOB
// MISTAKE: short-index - an index of 16 bits: after 32,767 comes -32,768
// DIAGNOSIS: index-overflow
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    short i = 0;
    for (int round = 0; round < n; round++) {
        sum += in[i++];
    }
    partial[0] = sum;
}
