// VERDICT: WRONG
// MISTAKE: adds-into-an-int - gathers floats in an int
// DIAGNOSIS: fractions-cut-off
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += in[i];
    }
    partial[0] = s;
}
