// CLEAN
// RUN: enter --grid 2 --block 32 --arg buf:8:zero --arg buf:8:zero
// Of two blocks that raise a flag and look at the other's, at least one sees the other's: fences in between.
extern "C" __global__ void enter(volatile int *flags, unsigned *counts) {
    if (threadIdx.x) return;
    int me = blockIdx.x;
    flags[me] = 1;
    __threadfence();
    if (flags[1 - me] == 0) atomicAdd(&counts[0], 1);
    if (atomicAdd(&counts[1], 1) == 1 && atomicAdd(&counts[0], 0) == 2) __trap();
}
