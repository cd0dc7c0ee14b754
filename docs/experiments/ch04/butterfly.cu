// EXPERIMENT: The butterfly leaves the result in every lane, in five shuffles.
// RUN: build/bin/emulate $PTX butterfly --grid 1 --block 32 --profile | grep -m 4 -e lane -e shuffles
// SHOWS: lane 0 holds 91
// SHOWS: lane 17 holds 91
// SHOWS: lane 31 holds 91
// SHOWS: shuffles 5
#include <cstdio>

extern "C" __global__ void butterfly() {
    int lane = threadIdx.x;
    int largest = lane * 37 % 94;
    // BEGIN butterfly
    for (int bit = 1; bit < 32; bit *= 2) {
        int other = __shfl_xor_sync(0xffffffff, largest, bit); // from lane ^ bit
        largest = max(largest, other);
    }
    // END butterfly
    if (lane == 0 || lane == 17 || lane == 31) {
        printf("lane %d holds %d\n", lane, largest);
    }
}
