// CLEAN
// RUN: rounds --grid 4 --block 64 --arg buf:16:zero
// this_grid().sync() between rounds of volatile values.
#include <cooperative_groups.h>
extern "C" __global__ void rounds(volatile int *values) {
    auto grid = cooperative_groups::this_grid();
    for (int round = 1; round <= 2; round++) {
        if (threadIdx.x == 33) values[blockIdx.x] = round;
        grid.sync();
        if (values[(blockIdx.x + 1) % gridDim.x] != round) __trap();
        grid.sync();
    }
}
