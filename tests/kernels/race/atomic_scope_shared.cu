// FINDS: RACE line 5 other 5
// RUN: sum --grid 4 --block 64 --arg buf:16:zero
// Atomics of block scope on a counter of all blocks.
extern "C" __global__ void sum(int *out) {
    atomicAdd_block(&out[0], 1);
}
