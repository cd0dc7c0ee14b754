// FINDS: RACE line 12 other 10
// RUN: sum --grid 2 --block 32 --arg buf:256:zero --arg buf:8
// One lane may read what another has still to write.
extern "C" __global__ void sum(const float *in, float *out) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        float other = s[t + d & 31];
        __syncwarp();
        s[t] += other;
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
