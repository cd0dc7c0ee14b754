// CLEAN
// RUN: turn --grid 1 --block 64 --arg buf:256
// Each half of a warp works on its own, with a mask that names it.
extern "C" __global__ void turn(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    unsigned half = t & 16 ? 0xffff0000u : 0x0000ffffu;
    s[t] = t;
    __syncwarp(half);
    out[t] = s[t ^ 15 ];
}
