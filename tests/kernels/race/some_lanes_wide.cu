// FINDS: RACE line 10 other 7
// RUN: turn --grid 1 --block 32 --arg buf:128:zero
// A lane reads what lanes outside the mask wrote.
extern "C" __global__ void turn(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 12) {
        __syncwarp(0x00000fff);
        out[t] = s[11 - t + 6];
    }
}
