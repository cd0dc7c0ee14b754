// CLEAN
// RUN: sum --grid 6 --block 64 --arg buf:1536:zero --arg buf:24 --arg buf:4:zero --arg buf:4
// The last block adds up what all blocks wrote: fence, ticket. Volatile reads need no
// fence behind it (CUDA C++ Programming Guide, "Memory Fence Functions", and its example).
extern "C" __global__ void sum(const float *in, volatile float *partial, unsigned *count, float *out) {
    __shared__ bool last;
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += partial[i];
        *out = sum;
    }
}
