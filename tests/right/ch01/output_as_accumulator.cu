// RIGHT: output-as-accumulator - adds up in the output itself, after setting it to 0
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    partial[0] = 0.0f;
    for (int i = 0; i < n; i++) {
        partial[0] += in[i];
    }
}
