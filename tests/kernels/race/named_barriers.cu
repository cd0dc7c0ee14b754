// CLEAN
// RUN: turn --grid 2 --block 128 --arg buf:1024
// Each half of the block has a barrier of its own.
#define BARRIER(what, id, threads) asm volatile("barrier." what " %0, %1;" ::"r"(id), "r"(threads) : "memory")
extern "C" __global__ void turn(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        s[t] = t;
        BARRIER("sync", 1 + t / 64, 64);
        out[blockIdx.x * 128 + t] = s[(t ^ 33) ];
        BARRIER("sync", 1 + t / 64, 64);
    }
}
