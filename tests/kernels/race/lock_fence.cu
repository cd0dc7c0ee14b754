// FINDS: RACE line 7 other 7
// RUN: count --grid 4 --block 32 --arg buf:4:zero --arg buf:4:zero
// A lock without fences.
extern "C" __global__ void count(int *lock, int *counter) {
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    *counter += 1;
    atomicExch(lock, 0);
}
