// FINDS: RACE line 17 other 11
// RUN: pass --grid 2 --block 64 --arg buf:256
// A flag without a fence before it.
extern "C" __global__ void pass(int *out) {
    __shared__ volatile int flag;
    __shared__ int data[32];
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t < 32) {
        data[t] = t;
        __syncwarp();
        if (t == 0) flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence_block();
        out[blockIdx.x * 32 + t - 32] = data[63 - t];
    }
}
