// EXPERIMENT: Blocks of 256, 512, 768 and 1,024 threads on an L4's SM, which has places for 1,536.
// RUN: for t in 256 512 768 1024; do build/bin/emulate $PTX places --grid 1 --block 1 --arg i32:$t --arg i32:1536 | head -1; done
// SHOWS: blocks of 768: 2 fit, 0 places stay empty
// SHOWS: blocks of 1024: 1 fit, 512 places stay empty
#include <cstdio>

extern "C" __global__ void places(int threads, int places) {
    int fit = 0;
    while ((fit + 1) * threads <= places) {
        fit++;
    }
    printf("blocks of %d: %d fit, %d places stay empty\n", threads, fit, places - fit * threads);
}
