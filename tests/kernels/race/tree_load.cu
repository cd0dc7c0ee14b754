// FINDS: RACE line 9 other 7
// RUN: sum --grid 3 --block 256 --arg buf:3072:zero --arg buf:12
// The barrier between filling the array and the first level is missing.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
