// FINDS: RACE line 8 other 8
// RUN: sum --grid 4 --block 128 --arg buf:2048:zero
// No barrier between the levels of a tree in global memory.
extern "C" __global__ void sum(float *scratch) {
    float *s = scratch + blockIdx.x * 128;
    int t = threadIdx.x;
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
    }
}
