// FINDS: RACE line 10 other 8
// RUN: turn --grid 1 --block 64 --arg buf:256
// What the other half wrote is not ordered by this half's mask.
extern "C" __global__ void turn(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    unsigned half = t & 16 ? 0xffff0000u : 0x0000ffffu;
    s[t] = t;
    __syncwarp(half);
    out[t] = s[t ^ 15 ^ 16];
}
