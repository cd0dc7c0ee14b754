// VERDICT: REJECT
// MISTAKE: no-launch - the launch shape is missing
// DIAGNOSIS: no-launch-shape
#include "warpbook.cuh"

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i];
    }
    partial[0] = sum;
}
