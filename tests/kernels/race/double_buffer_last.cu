// FINDS: RACE line 12 other 11
// RUN: run --grid 2 --block 64 --arg buf:2048:zero --arg buf:512
// No barrier at the end of a round: the next tile overwrites this one.
extern "C" __global__ void run(const float *in, float *out) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    float sum = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        if (k < 7) s[k + 1 & 1][t] = in[(k + 1) * 64 + t];
        sum += s[k & 1][63 - t] + s[k & 1][t];
    }
    out[blockIdx.x * 64 + t] = sum;
}
