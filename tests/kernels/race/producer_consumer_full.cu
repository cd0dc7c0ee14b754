// FINDS: RACE line 13 other 9
// RUN: pass --grid 2 --block 64 --arg buf:256
// The consumer arrives and does not wait.
#define BARRIER(what, id, threads) asm volatile("barrier." what " %0, %1;" ::"r"(id), "r"(threads) : "memory")
extern "C" __global__ void pass(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        BARRIER("arrive", 1, 64);
    } else {
        BARRIER("arrive", 1, 64);
        out[blockIdx.x * 32 + t - 32] = s[63 - t];
    }
}
