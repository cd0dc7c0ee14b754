// VERDICT: REJECT
// MISTAKE: another-name - the kernel is not called what the chapter calls it
// DIAGNOSIS: kernel-renamed
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
