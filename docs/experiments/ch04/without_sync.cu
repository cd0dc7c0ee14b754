// EXPERIMENT: The old shuffle, without _sync.
// RUN: ./ch04 --device emulator --kernel $PTX
// SHOWS: BUILD
// SHOWS: __shfl_xor
#include "warpbook.cuh"

LAUNCH(sum_shuffle) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float value = thread < n ? in[thread] : 0.0f;
    partial[thread / 32] = value + __shfl_xor(value, 1);
}
