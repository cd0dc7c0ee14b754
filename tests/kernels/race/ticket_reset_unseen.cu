// FINDS: RACE line 6 other 7
// RUN: sum --grid 12 --block 64 --arg buf:4:zero
// An addition that returns nothing observes nothing: who sets the count back may come before others add.
extern "C" __global__ void sum(unsigned *count) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        if (blockIdx.x == gridDim.x - 1) *count = 0;
    }
}
