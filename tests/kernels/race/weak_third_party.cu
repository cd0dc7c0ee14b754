// CLEAN
// RUN: pass --grid 3 --block 32 --arg buf:4:zero --arg buf:4:zero
// What the second block has seen, the third sees too: fences add up along the way.
extern "C" __global__ void pass(volatile int *x, volatile int *y) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) *x = 1;
    if (blockIdx.x == 1) {
        while (*x == 0) {}
        __threadfence();
        *y = 1;
    }
    if (blockIdx.x == 2) {
        while (*y == 0) {}
        __threadfence();
        if (*x != 1) __trap();
    }
}
