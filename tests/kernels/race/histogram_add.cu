// FINDS: RACE line 10 other 9
// RUN: count --grid 2 --block 128 --arg buf:256:zero --arg buf:128:zero
// The bins are read while others still count.
extern "C" __global__ void count(const unsigned char *in, int *out) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * 128 + t] % 16], 1);
    if (t < 16) atomicAdd(&out[t], bins[t]);
}
