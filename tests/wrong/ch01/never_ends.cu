// VERDICT: TIMEOUT
// MISTAKE: never-ends - the index is doubled, and stays 0
// DIAGNOSIS: endless-loop
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i += i) {
        sum += in[i];
    }
    partial[0] = sum;
}
