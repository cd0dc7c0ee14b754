// EXPERIMENT: 65,536 registers divided by those of a block of 96 threads, and divided as the hardware hands them out.
// RUN: build/bin/emulate $PTX quotient --grid 1 --block 1 --arg i32:96 --arg i32:88 | head -2
// SHOWS: 65536 / (96 * 88) = 7
// SHOWS: 4 quarters of 5 warps, 3 warps a block: 6
#include <cstdio>

extern "C" __global__ void quotient(int threads, int registers) {
    printf("65536 / (%d * %d) = %d\n", threads, registers, 65536 / (threads * registers));
    int unit = 256, per_warp = (32 * registers + unit - 1) / unit * unit;
    int per_quarter = 65536 / 4 / per_warp, warps = (threads + 31) / 32;
    printf("4 quarters of %d warps, %d warps a block: %d\n", per_quarter, warps, 4 * per_quarter / warps);
}
