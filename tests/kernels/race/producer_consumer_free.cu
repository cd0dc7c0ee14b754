// FINDS: RACE line 14 other 10
// RUN: pass --grid 2 --block 64 --arg buf:512
// The producer does not wait until its buffer is free.
#define BARRIER(what, id, threads) asm volatile("barrier." what " %0, %1;" ::"r"(id), "r"(threads) : "memory")
extern "C" __global__ void pass(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        if (t < 32) {
            s[t] = t + k;
            BARRIER("arrive", 1 + k, 64);
        } else {
            BARRIER("sync", 1 + k, 64);
            out[blockIdx.x * 64 + k * 32 + t - 32] = s[63 - t];
        }
    }
}
