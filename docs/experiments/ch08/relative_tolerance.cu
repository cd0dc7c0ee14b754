// EXPERIMENT: Ten million and a thousand small numbers, summed in two orders.
// RUN: build/bin/emulate $PTX sums --grid 1 --block 1
// SHOWS: relative difference
#include <cstdio>

extern "C" __global__ void sums() {
    volatile float big = 1e7f;
    float forward = big, backward = 0.0f;
    for (int i = 0; i < 1000; i++) {
        forward += 0.3f; // 1e7 + 0.3 rounds to 1e7
        backward += 0.3f;
    }
    forward -= big;
    backward += big;
    backward -= big;
    printf("one order %g, the other %g\n", forward, backward);
    printf("relative difference %g\n", (backward - forward) / backward);
}
