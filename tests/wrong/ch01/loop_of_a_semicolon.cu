// VERDICT: OOB
// MISTAKE: loop-of-a-semicolon - a semicolon ends the for: the loop does nothing, and one element behind the last is added
// DIAGNOSIS: stray-semicolon
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;

    int i;
    for (i = 0; i < n; i++);
    {
        sum += in[i];
    }

    partial[0] = sum;
}
