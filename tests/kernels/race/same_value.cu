// FINDS: INFO line 5 other 5
// RUN: find --grid 2 --block 64 --arg buf:4:zero
// All write the same value: no failure, but worth knowing.
extern "C" __global__ void find(int *found) {
    if (threadIdx.x > 3) *found = 1;
}
