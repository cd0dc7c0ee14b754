// VERDICT: OOB
// MISTAKE: changes-the-input - turns the input into its prefix sums and reads the last one
// DIAGNOSIS: input-overwritten
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float *sums = (float *)in;
    for (int i = 1; i < n; i++) {
        sums[i] += sums[i - 1];
    }
    partial[0] = n > 0 ? sums[n - 1] : 0.0f;
}
