// FINDS: RACE line 8 other 8
// RUN: count --grid 2 --block 32 --arg buf:4:zero --arg buf:4:zero
// The lock is released without a fence before it.
extern "C" __global__ void count(int *lock, int *counter) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *counter += 1;
            atomicExch(lock, 0);
            done = true;
        }
    }
}
