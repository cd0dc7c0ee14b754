// CLEAN
// RUN: turn --grid 3 --block 32 --arg buf:4:zero --arg buf:4:zero
// Blocks take turns by a number; fences on both sides hand the volatile value over.
extern "C" __global__ void turn(volatile unsigned *whose, volatile int *value) {
    if (threadIdx.x) return;
    for (unsigned i = 0; i < 4; i++) {
        while (*whose != i * gridDim.x + blockIdx.x) {}
        __threadfence();
        if (*value != (int)(i * gridDim.x + blockIdx.x)) __trap();
        *value = *value + 1;
        __threadfence();
        *whose = *whose + 1;
    }
}
