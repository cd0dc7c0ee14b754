// CLEAN
// RUN: count --grid 2 --block 32 --arg buf:4:zero --arg buf:4:zero
// Every lane of a warp takes the lock in its turn.
extern "C" __global__ void count(int *lock, int *counter) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
