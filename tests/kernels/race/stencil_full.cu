// FINDS: RACE line 9 other 7
// RUN: smooth --grid 3 --block 64 --arg buf:792:zero --arg buf:768
// Neighbours are read before they are there.
extern "C" __global__ void smooth(const float *in, float *out) {
    __shared__ float s[66];
    int t = threadIdx.x;
    s[t + 1] = in[blockIdx.x * 64 + t + 1];
    if (t < 2) s[t * 65] = in[blockIdx.x * 64 + t * 65];
    out[blockIdx.x * 64 + t] = s[t] + s[t + 1] + s[t + 2];
}
