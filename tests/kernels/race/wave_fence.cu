// FINDS: RACE line 11 other 11
// RUN: wave --grid 5 --block 32 --arg buf:640:zero --arg buf:24:zero
// Flags from block to block without a fence.
extern "C" __global__ void wave(int *data, volatile int *flags) {
    int t = threadIdx.x, b = blockIdx.x;
    if (b > 0) {
        if (t == 0) while (flags[b - 1] == 0) {}
        __syncthreads();
        __threadfence();
    }
    data[b * 32 + t] = b ? data[(b - 1) * 32 + 31 - t] + 1 : t;
    __syncthreads();
    if (t == 0) flags[b] = 1;
}
