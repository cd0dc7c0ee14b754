// FINDS: RACE line 5 other 6
// RUN: find --grid 3 --block 64 --arg buf:4 --arg buf:4:zero
// Every thread of every block stores 0 to global memory, and one thread has read it before.
extern "C" __global__ void find(int *out, int *total) {
    if (threadIdx.x == 63 && blockIdx.x == 2) out[0] = total[0];
    total[0] = 0;
}
