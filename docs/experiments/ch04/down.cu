// EXPERIMENT: What each lane receives from a shuffle down by 4.
// RUN: build/bin/emulate $PTX down --grid 1 --block 32
// SHOWS: lane 0 gave 100 and received 104
// SHOWS: lane 27 gave 127 and received 131
// SHOWS: lane 28 gave 128 and received 128
#include <cstdio>

extern "C" __global__ void down() {
    int lane = threadIdx.x;
    // BEGIN down
    int value = 100 + lane;
    int other = __shfl_down_sync(0xffffffff, value, 4);
    // END down
    if (lane < 2 || lane >= 26) {
        printf("lane %d gave %d and received %d\n", lane, value, other);
    }
}
