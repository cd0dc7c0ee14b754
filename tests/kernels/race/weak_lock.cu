// CLEAN
// RUN: count --grid 8 --block 32 --arg buf:4:zero --arg buf:8:zero --arg buf:4:zero
// A lock of atomicCAS and atomicExch with fences guards volatile counters.
extern "C" __global__ void count(int *lock, volatile int *counts, unsigned *ticket) {
    if (threadIdx.x) return;
    for (int i = 0; i < 3; i++) {
        while (atomicCAS(lock, 0, 1)) {}
        __threadfence();
        counts[0] = counts[0] + 1;
        counts[1] = counts[1] + 1;
        if (counts[0] != counts[1]) __trap();
        __threadfence();
        atomicExch(lock, 0);
    }
    __threadfence();
    if (atomicAdd(ticket, 1) == gridDim.x - 1) {
        __threadfence();
        if (counts[0] != 3 * (int)gridDim.x) __trap();
    }
}
