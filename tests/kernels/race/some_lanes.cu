// CLEAN
// RUN: turn --grid 1 --block 32 --arg buf:128:zero
// Twelve lanes exchange values behind a __syncwarp() that names them.
extern "C" __global__ void turn(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 12) {
        __syncwarp(0x00000fff);
        out[t] = s[11 - t ];
    }
}
