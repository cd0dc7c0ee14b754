// RIGHT: backwards - from the last element to the first, with a while loop
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    while (n > 0) {
        sum += in[--n];
    }
    partial[0] = sum;
}
