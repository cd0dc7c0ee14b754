// VERDICT: REJECT
// MISTAKE: huge-static-array - a gigabyte of the module, where every launch finds what the last one left
// DIAGNOSIS: huge-static-array
#include "warpbook.cuh"

__device__ float copy_of_input[1 << 28];

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        copy_of_input[i] = in[i];
        sum += copy_of_input[i];
    }
    partial[0] = sum;
}
