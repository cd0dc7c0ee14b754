// CLEAN
// RUN: count --grid 2 --block 128 --arg buf:256:zero --arg buf:128:zero
// A histogram in shared memory with atomics.
extern "C" __global__ void count(const unsigned char *in, int *out) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * 128 + t] % 16], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&out[t], bins[t]);
}
