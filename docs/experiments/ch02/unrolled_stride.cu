// EXPERIMENT: Four elements in each round, but with the step for one.
// RUN: ./ch02 --device emulator --kernel $PTX --n 1025
// SHOWS: WRONG
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 64;
    launch->grid = 1;
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    // BEGIN unrolled
    for (int i = 4 * thread; i < n; i += threads) { // should step 4 * threads
        for (int k = i; k < min(i + 4, n); k++) {
            sum += in[k];
        }
    }
    // END unrolled
    partial[thread] = sum;
}
