// VERDICT: OUTPUT_LIMIT
// MISTAKE: prints-every-element - a printf left in the loop
// DIAGNOSIS: printf-flood
#include <stdio.h>

#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        printf("i = %d, in[i] = %g, sum so far = %g\n", i, in[i], sum);
    }
    partial[0] = sum;
}
