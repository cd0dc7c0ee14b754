// FINDS: RACE line 16 other 7
// RUN: sum --grid 5 --block 64 --arg buf:1280 --arg buf:4:zero --arg buf:256
// The fence of thread 0 comes before others have written.
extern "C" __global__ void sum(float *all, unsigned *count, float *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    all[blockIdx.x * 64 + t] = t;
    if (t == 0) {
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += all[i * 64 + t];
        out[t] = sum;
    }
}
