// CLEAN
// RUN: sum --grid 4 --block 64 --arg buf:16:zero
// Atomics of block scope, a counter a block.
extern "C" __global__ void sum(int *out) {
    atomicAdd_block(&out[blockIdx.x], 1);
}
