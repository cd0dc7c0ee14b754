// EXPERIMENT: Blocks add to one float with a plain +=.
// RUN: ./ch08 --device emulator --kernel $PTX
// SHOWS: RACE
#include "warpbook.cuh"

LAUNCH(sum_atomic) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_atomic(const float *in, float *out, int n) {
    // BEGIN update
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n) {
        out[0] += in[thread]; // load, add, store: three steps
    }
    // END update
}

LAUNCH(sum_blocks) {
    launch->block = 32;
    launch->grid = 1;
}

__global__ void sum_blocks(const float *in, float *partial, int n) {}

LAUNCH(sum_partials) {
    launch->block = 32;
    launch->grid = 1;
}

__global__ void sum_partials(const float *partial, float *out, int count) {}
