// FINDS: RACE line 10 other 9
// RUN: turn --grid 2 --block 128 --arg buf:1024
// No barrier at all.
#define BARRIER(what, id, threads) asm volatile("barrier." what " %0, %1;" ::"r"(id), "r"(threads) : "memory")
extern "C" __global__ void turn(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        s[t] = t;
        out[blockIdx.x * 128 + t] = s[(t ^ 33) ];
    }
}
