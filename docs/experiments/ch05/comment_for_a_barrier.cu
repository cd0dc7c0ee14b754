// EXPERIMENT: A comment in the place of a barrier.
// RUN: build/bin/emulate $PTX reverse --grid 1 --block 64 --arg buf:256
// SHOWS: with no barrier between them
extern "C" __global__ void reverse(int *out) {
    __shared__ int slot[64];
    slot[threadIdx.x] = threadIdx.x;
    // all threads are in sync here
    out[threadIdx.x] = slot[63 - threadIdx.x];
}
