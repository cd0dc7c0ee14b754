// EXPERIMENT: The first element of row 65,535 in a matrix of 40,000 columns, computed in 32 and in 64 bits.
// RUN: build/bin/emulate $PTX index --grid 1 --block 1 --arg i32:65535 --arg i32:40000
// SHOWS: 32 bits: -1673567296
// SHOWS: 64 bits: 2621400000
#include <cstdio>

extern "C" __global__ void index(int row, int columns) {
    int narrow = (int)((unsigned)row * (unsigned)columns); // what the hardware computes for row * columns
    long long wide = (long long)row * columns;
    printf("in 32 bits: %d\nin 64 bits: %lld\n", narrow, wide);
}
