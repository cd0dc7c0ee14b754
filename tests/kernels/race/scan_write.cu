// FINDS: RACE line 12 other 10
// RUN: scan --grid 2 --block 64 --arg buf:512:zero
// A value may be read before its neighbour has written it.
extern "C" __global__ void scan(float *data) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        float more = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += more;
    }
    data[blockIdx.x * 64 + t] = s[t];
}
