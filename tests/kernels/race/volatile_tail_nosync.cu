// FINDS: RACE line 12 other 11
// RUN: sum --grid 2 --block 64 --arg buf:512:zero --arg buf:8
// Volatile is no barrier: lanes of one warp race.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        float v = s[t] + s[t + 32];
        s[t] = v;
        v += s[t + 1 & 31];
        if (t == 0) out[blockIdx.x] = v;
    }
}
