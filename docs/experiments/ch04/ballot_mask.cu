// EXPERIMENT: A mask from __ballot_sync names the lanes below n; the shuffle reads from other lanes.
// RUN: build/bin/emulate $PTX ballot --grid 1 --block 32 --arg i32:20
// SHOWS: reads lane 20
#include <cstdio>

extern "C" __global__ void ballot(int n) {
    int lane = threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, lane < n);
    if (lane < n) {
        float other = __shfl_down_sync(mask, 1.0f, 16);
        printf("lane %d received %g\n", lane, other);
    }
}
