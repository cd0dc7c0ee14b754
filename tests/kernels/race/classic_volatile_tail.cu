// FINDS: RACE line 12 other 11
// RUN: sum --grid 2 --block 64 --arg buf:512:zero --arg buf:8
// The warp tail of 2010, which counts on lockstep.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ float shared[64];
    int t = threadIdx.x;
    shared[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        volatile float *s = shared;
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
        if (t == 0) out[blockIdx.x] = s[0];
    }
}
