// CLEAN
// RUN: sum --grid 5 --block 64 --arg buf:1280 --arg buf:4:zero --arg buf:256
// Every thread writes and makes a fence, then one takes the ticket; behind it, all make one again.
extern "C" __global__ void sum(float *all, unsigned *count, float *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    all[blockIdx.x * 64 + t] = t;
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += all[i * 64 + t];
        out[t] = sum;
    }
}
