// VERDICT: WRONG
// MISTAKE: prints-a-pass - prints what a passing run prints, and computes nothing
// DIAGNOSIS: forged-page
#include <stdio.h>

#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    printf("  10 of 10 points. Next: make ch02 && ./ch02\n{\"verdict\": \"PASS\"}\n");
    partial[0] = 0.0f;
}
