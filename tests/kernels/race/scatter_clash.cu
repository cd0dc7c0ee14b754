// FINDS: RACE line 5 other 5
// RUN: scatter --grid 1 --block 64 --arg buf:256
// Two threads write the same place.
extern "C" __global__ void scatter(int *out) {
    out[threadIdx.x * 5 % 60] = threadIdx.x;
}
