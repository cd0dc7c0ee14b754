// FINDS: RACE line 5 other 5
// RUN: find --grid 1 --block 64 --arg buf:4:zero
// All write one place, and not the same.
extern "C" __global__ void find(int *last) {
    if (threadIdx.x > 3) *last = threadIdx.x;
}
