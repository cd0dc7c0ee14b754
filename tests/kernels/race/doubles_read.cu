// FINDS: RACE line 8 other 7
// RUN: move --grid 2 --block 64 --arg buf:1024
// No barrier between writing and reading doubles.
extern "C" __global__ void move(double *out) {
    __shared__ double s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[blockIdx.x * 64 + t] = s[t ^ 33];
}
