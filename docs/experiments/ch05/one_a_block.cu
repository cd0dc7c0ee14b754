// EXPERIMENT: Three blocks write to "the same" shared variable, and each reads its own.
// RUN: build/bin/emulate $PTX mine --grid 3 --block 32
// SHOWS: block 0 reads 100
// SHOWS: block 1 reads 101
// SHOWS: block 2 reads 102
#include <cstdio>

extern "C" __global__ void mine() {
    __shared__ int number;
    if (threadIdx.x == 0) {
        number = 100 + blockIdx.x;
    }
    __syncthreads();
    if (threadIdx.x == 31) {
        printf("block %d reads %d\n", blockIdx.x, number);
    }
}
