// CLEAN
// RUN: count --grid 4 --block 32 --arg buf:4:zero --arg buf:4:zero
// A spin lock around a plain counter.
extern "C" __global__ void count(int *lock, int *counter) {
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}
