// FINDS: RACE line 9 other 9
// RUN: count --grid 2 --block 128 --arg buf:256:zero --arg buf:128:zero
// Counting without atomics.
extern "C" __global__ void count(const unsigned char *in, int *out) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    bins[in[blockIdx.x * 128 + t] % 16]++;
    __syncthreads();
    if (t < 16) atomicAdd(&out[t], bins[t]);
}
