// EXPERIMENT: "48 MB of shared memory", divided among the 348 blocks of an L4.
// RUN: ./ch06 --device emulator --gpu L4 --kernel $PTX
// SHOWS: LAUNCH
// SHOWS: 144,631 bytes
#include "warpbook.cuh"

LAUNCH(occupancy) {
    launch->block = 64;
    launch->grid = ceil_div(n, 64);
}

__global__ void occupancy(const int *question, int *answer, int n) {}

LAUNCH(sum_full) {
    launch->block = 256;
    launch->grid = 348;
    launch->shared = 48 * 1024 * 1024 / 348;
}

__global__ void sum_full(const float *in, float *partial, int n) {}
