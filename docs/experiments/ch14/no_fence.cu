// EXPERIMENT: Each block writes a sum and a flag with two stores, and nothing orders the stores.
// RUN: ./ch14 --device emulator --kernel $PTX --n 4096
// SHOWS: RACE
#include "warpbook.cuh"

LAUNCH(sum) {
    launch->block = 32;
    launch->grid = 2;
}

__global__ void sum(const float *in, float *out, unsigned long long *mailbox, size_t n) {
    float mine = 0.0f;
    for (size_t i = (size_t)blockIdx.x * 32 + threadIdx.x; i < n; i += 64) {
        mine += in[i];
    }
    for (int bit = 1; bit < 32; bit *= 2) {
        mine += __shfl_xor_sync(0xffffffff, mine, bit);
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        *(float *)&mailbox[0] = mine;      // the sum
        *(volatile int *)&mailbox[1] = 1; // the flag
    }
    if (threadIdx.x == 0 && blockIdx.x == 1) {
        while (*(volatile int *)&mailbox[1] == 0) {
        }
        out[0] = mine + *(float *)&mailbox[0];
        mailbox[0] = mailbox[1] = 0;
    }
}
