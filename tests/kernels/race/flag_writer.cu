// FINDS: RACE line 13 other 7
// RUN: pass --grid 2 --block 32 --arg buf:128:zero --arg buf:4:zero --arg buf:128
// The flag is raised without a fence before it.
extern "C" __global__ void pass(int *data, volatile int *flag, int *out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t + 1;
        __syncthreads();
        if (t == 0) *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        out[t] = data[31 - t];
    }
}
