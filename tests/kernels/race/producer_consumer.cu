// CLEAN
// RUN: pass --grid 2 --block 64 --arg buf:256
// Producers arrive at a barrier that consumers wait at, and the other way round.
#define BARRIER(what, id, threads) asm volatile("barrier." what " %0, %1;" ::"r"(id), "r"(threads) : "memory")
extern "C" __global__ void pass(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        if (t < 32) {
            if (k) BARRIER("sync", 2, 64);
            s[t] = t + k;
            BARRIER("arrive", 1, 64);
        } else {
            BARRIER("sync", 1, 64);
            sum += s[63 - t];
            if (k < 3) BARRIER("arrive", 2, 64);
        }
    }
    if (t >= 32) out[blockIdx.x * 32 + t - 32] = sum;
}
