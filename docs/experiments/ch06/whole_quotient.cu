// EXPERIMENT: 65,536 registers divided by those of a block of 96 threads, and the result of NVIDIA's calculator.
// RUN: build/bin/emulate $PTX quotient --grid 1 --block 1 --arg i32:96 --arg i32:88 | head -1
// RUN: grep -o "ROW(L4, 96, 88, .*)" chapters/ch06_occupancy/chapter.c
// SHOWS: 65536 / (96 * 88) = 7
// SHOWS: ROW(L4, 96, 88, 500, 16, 6,
#include <cstdio>

extern "C" __global__ void quotient(int threads, int registers) {
    printf("65536 / (%d * %d) = %d\n", threads, registers, 65536 / (threads * registers));
}
