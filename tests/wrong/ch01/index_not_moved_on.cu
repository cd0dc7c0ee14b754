// VERDICT: TIMEOUT
// MISTAKE: index-not-moved-on - a while loop whose index stays where it is
// DIAGNOSIS: endless-loop
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    int i = 0;
    while (i < n) {
        sum += in[i];
    }
    partial[0] = sum;
}
