// FINDS: RACE line 6 other 7
// RUN: find --grid 1 --block 256 --arg buf:4 --arg i32:0 --arg i32:0
// All threads store the same value, and the one that reads it is the last of them.
extern "C" __global__ void find(int *out, int i, int k) {
    __shared__ int tile[32];
    tile[i] = 1;
    if (threadIdx.x == 255) out[0] = tile[k];
}
