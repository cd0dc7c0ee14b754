// VERDICT: WRONG
// MISTAKE: always-the-same - a number that was once right
// DIAGNOSIS: answer-built-in
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    partial[0] = n == 0 ? 0.0f : 4298183.0f;
}
