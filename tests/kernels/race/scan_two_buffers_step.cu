// FINDS: RACE line 10 other 10
// RUN: scan --grid 2 --block 64 --arg buf:512:zero
// The barrier of the step is missing.
extern "C" __global__ void scan(float *data) {
    __shared__ float s[2][64];
    int t = threadIdx.x, from = 0;
    s[0][t] = data[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
    }
    data[blockIdx.x * 64 + t] = s[from][t];
}
