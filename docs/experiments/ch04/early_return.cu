// EXPERIMENT: Lanes beyond n return first, but the mask of the shuffle still names them.
// RUN: ./ch04 --device emulator --kernel $PTX
// SHOWS: SYNC
// SHOWS: lane 1
#include "warpbook.cuh"

LAUNCH(sum_shuffle) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN return
    if (thread >= n) {
        return;
    }
    float sum = in[thread];
    // END return
    for (int bit = 1; bit < 32; bit *= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, bit);
    }
    partial[thread / 32] = sum;
}
