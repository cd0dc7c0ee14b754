// VERDICT: BUILD
// MISTAKE: calls-the-host - calls a function that exists on the host only
// DIAGNOSIS: host-function
#include <stdlib.h>

#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i];
    }
    system("echo PASS");
    partial[0] = sum;
}
