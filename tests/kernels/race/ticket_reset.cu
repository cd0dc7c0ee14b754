// CLEAN
// RUN: sum --grid 12 --block 64 --arg buf:48 --arg buf:4:zero --arg buf:4
// Who draws the last number comes behind all others that drew one, and sets the ticket back with a plain store.
extern "C" __global__ void sum(float *partial, unsigned *count, float *out) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        partial[blockIdx.x] = t;
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (t == 32) { // behind the barrier, any thread of the block may
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += partial[i];
        *out = sum;
        *count = 0;
    }
}
