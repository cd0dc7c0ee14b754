// FINDS: RACE line 19 other 6
// RUN: turn --grid 4 --block 32 --arg buf:512 --arg buf:16:zero --arg buf:16:zero --arg buf:512
// The first fence is missing.
extern "C" __global__ void turn(int *data, volatile int *in, volatile int *out, int *result) {
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    data[i] = i;
    __syncthreads();
    if (t == 0) in[blockIdx.x] = 1;
    if (blockIdx.x == 0) {
        if (t < gridDim.x) while (in[t] != 1) {}
        __threadfence();
        __syncthreads();
        __threadfence();
        if (t < gridDim.x) out[t] = 1;
    }
    if (t == 0) while (out[blockIdx.x] != 1) {}
    __syncthreads();
    __threadfence();
    result[i] = data[127 - i];
}
