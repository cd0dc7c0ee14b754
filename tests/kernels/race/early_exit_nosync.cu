// FINDS: RACE line 9 other 7
// RUN: sum --grid 2 --block 64 --arg buf:400:zero
// Threads that have left may not have written.
extern "C" __global__ void sum(float *data) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 50 + t;
    s[t] = t;
    if (t >= 50) return;
    data[i] = s[63 - t];
}
