// CLEAN
// RUN: sum --grid 2 --block 32 --arg buf:256:zero --arg buf:8
// A warp tail as it should be: __syncwarp() between reading and writing, and between steps.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        float other = s[t + d & 31];
        __syncwarp();
        s[t] += other;
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
