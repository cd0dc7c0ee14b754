// CLEAN
// RUN: sums --grid 2 --block 64 --arg buf:1024:zero --arg buf:16
// Two reductions one after the other in the same array.
extern "C" __global__ void sums(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        s[t] = in[(blockIdx.x * 2 + k) * 64 + t];
        __syncthreads();
        for (int d = 32; d > 0; d /= 2) {
            if (t < d) s[t] += s[t + d];
            __syncthreads();
        }
        if (t == 32) out[blockIdx.x * 2 + k] = s[0];
        __syncthreads();
    }
}
