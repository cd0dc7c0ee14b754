// FINDS: RACE line 16 other 15
// RUN: sum --grid 2 --block 64 --arg buf:512:zero --arg buf:8
// A volatile tail with fewer lanes at every step, and no __syncwarp().
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ float shared[64];
    int t = threadIdx.x;
    shared[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    volatile float *s = shared;
    float v = s[t];
    if (t < 32) s[t] = v = v + s[t + 32];
    if (t < 16) s[t] = v = v + s[t + 16];
    if (t < 8) s[t] = v = v + s[t + 8];
    if (t < 4) s[t] = v = v + s[t + 4];
    if (t < 2) s[t] = v = v + s[t + 2];
    if (t < 1) s[t] = v = v + s[t + 1];
    if (t == 0) out[blockIdx.x] = s[0];
}
