// RIGHT: kahan - compensated summation; a sum that is no longer finite is left alone
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    float lost = 0.0f;
    for (int i = 0; i < n; i++) {
        float value = in[i] - lost;
        float next = sum + value;
        lost = isfinite(next) ? (next - sum) - value : 0.0f;
        sum = next;
    }
    partial[0] = sum;
}
