// VERDICT: WRONG
// MISTAKE: answers-for-ones - the answer for an array of ones, hard-coded
// DIAGNOSIS: answer-built-in
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) { partial[0] = (float)n; }
