// CLEAN
// RUN: sum --grid 2 --block 64 --arg buf:512:zero --arg buf:8
// The last 32 values by one warp, volatile, with __syncwarp() between reading and writing.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        float v = s[t] + s[t + 32];
        __syncwarp();
        s[t] = v;
        __syncwarp();
        v += s[t + 1 & 31];
        if (t == 0) out[blockIdx.x] = v;
    }
}
