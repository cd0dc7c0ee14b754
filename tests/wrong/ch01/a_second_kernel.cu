// VERDICT: REJECT
// MISTAKE: a-second-kernel - a kernel that nobody asked for
// DIAGNOSIS: another-kernel
#include "warpbook.cuh"

__global__ void fill_with_answer(float *partial, float answer) { partial[0] = answer; }

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
