// FINDS: RACE line 11 other 9
// RUN: turn --grid 2 --block 128 --arg buf:1024
// A thread reads what the other half wrote, behind its own half's barrier.
#define BARRIER(what, id, threads) asm volatile("barrier." what " %0, %1;" ::"r"(id), "r"(threads) : "memory")
extern "C" __global__ void turn(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        s[t] = t;
        BARRIER("sync", 1 + t / 64, 64);
        out[blockIdx.x * 128 + t] = s[(t ^ 33) ^ 64];
        BARRIER("sync", 1 + t / 64, 64);
    }
}
