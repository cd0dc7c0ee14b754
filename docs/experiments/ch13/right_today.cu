// EXPERIMENT: A race whose result is right in the usual order of warps and wrong in another.
// RUN: for s in 0 1 2 3 4 5; do build/bin/emulate $PTX pass_on --grid 1 --block 64 --arg buf:8:zero --checks none --schedule $s | head -1; done
// RUN: build/bin/emulate $PTX pass_on --grid 1 --block 64 --arg buf:8:zero | head -4
// SHOWS: warp 1 reads 7
// SHOWS: warp 1 reads 0
// SHOWS: RACE
#include <cstdio>

extern "C" __global__ void pass_on(int *word) {
    // BEGIN race
    if (threadIdx.x == 0) {
        *word = 7;
    }
    // no barrier
    if (threadIdx.x == 32) {
        printf("warp 1 reads %d\n", *word);
    }
    // END race
}
