// EXPERIMENT: A sum and the flag that announces it: in two stores, in two stores with fences, and in one store.
// RUN: build/bin/emulate $PTX two_stores --grid 2 --block 32 --arg buf:16:zero --schedule 1 | grep -e RACE -e clean
// RUN: build/bin/emulate $PTX with_fences --grid 2 --block 32 --arg buf:16:zero --schedule 1
// RUN: build/bin/emulate $PTX one_store --grid 2 --block 32 --arg buf:16:zero --schedule 1
// SHOWS: RACE
// SHOWS: with_fences: clean
// SHOWS: one_store: clean
#include <cstdio>

// BEGIN two
extern "C" __global__ void two_stores(volatile int *place) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *(int *)&place[0] = 42; // the sum
        place[1] = 1;           // the flag
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (place[1] == 0) {
        }
        printf("%d\n", *(int *)&place[0]);
    }
}
// END two

extern "C" __global__ void with_fences(volatile int *place) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *(int *)&place[0] = 42;
        __threadfence(); // the sum before the flag
        place[1] = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (place[1] == 0) {
        }
        __threadfence(); // the flag before the sum
        printf("%d\n", *(int *)&place[0]);
    }
}

extern "C" __global__ void one_store(volatile unsigned long long *place) {
    // BEGIN one
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        place[0] = 1ull << 32 | 42; // both in one store
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        unsigned long long both;
        do {
            both = place[0];
        } while (both == 0);
        printf("%d\n", (int)both);
    }
    // END one
}
