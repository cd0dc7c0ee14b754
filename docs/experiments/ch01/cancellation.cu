// EXPERIMENT: Four numbers added in two orders; each sum is as accurate as float allows.
// RUN: build/bin/emulate $PTX cancel --grid 1 --block 1
// SHOWS: in order: 1
// SHOWS: large ones first: 2
#include <cstdio>

extern "C" __global__ void cancel() {
    // BEGIN cancel
    volatile float a = 1e8f, b = 1.0f, c = -1e8f, d = 1.0f;
    float in_order = ((a + b) + c) + d;
    float large_first = (a + c) + (b + d);
    // END cancel
    printf("in order: %g\nlarge ones first: %g\n", in_order, large_first);
}
