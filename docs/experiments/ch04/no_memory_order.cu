// EXPERIMENT: A shuffle between a store and a load of another lane's word.
// RUN: build/bin/emulate $PTX exchange --grid 1 --block 32 --arg buf:128
// SHOWS: race
#include <cstdio>

extern "C" __global__ void exchange(float *out) {
    __shared__ float word[32];
    int lane = threadIdx.x;
    word[lane] = lane;
    float all_are_here = __shfl_sync(0xffffffff, 1.0f, 0); // synchronises the lanes, does not order memory
    out[lane] = word[31 - lane] * all_are_here;
}
