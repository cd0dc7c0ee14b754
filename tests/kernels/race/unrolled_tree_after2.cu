// FINDS: RACE line 20 other 19
// RUN: sum --grid 2 --block 128 --arg buf:1024:zero --arg buf:8
// One barrier is missing: the one behind the level of distance 2.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) s[t] += s[t + 32];
    __syncthreads();
    if (t < 16) s[t] += s[t + 16];
    __syncthreads();
    if (t < 8) s[t] += s[t + 8];
    __syncthreads();
    if (t < 4) s[t] += s[t + 4];
    __syncthreads();
    if (t < 2) s[t] += s[t + 2];
    if (t == 0) out[blockIdx.x] = s[0] + s[1];
}
