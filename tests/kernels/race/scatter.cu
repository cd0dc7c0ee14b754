// CLEAN
// RUN: scatter --grid 1 --block 64 --arg buf:256
// A permutation has no two threads write one place.
extern "C" __global__ void scatter(int *out) {
    out[threadIdx.x * 5 % 64] = threadIdx.x;
}
