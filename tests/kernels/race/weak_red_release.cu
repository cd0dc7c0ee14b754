// CLEAN
// RUN: count --grid 5 --block 32 --arg buf:640:zero --arg buf:4:zero
// red.release in the blocks that store, ld.acquire in the one that waits.
extern "C" __global__ void count(volatile int *data, unsigned *arrived) {
    int t = threadIdx.x;
    if (blockIdx.x < 4) {
        data[32 * blockIdx.x + t] = 7;
        __syncwarp();
        if (t == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
        return;
    }
    unsigned count = 0;
    while (count < 4) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(arrived) : "memory");
    for (int b = 0; b < 4; b++)
        if (data[32 * b + t] != 7) __trap();
}
