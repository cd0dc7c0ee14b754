// CLEAN
// RUN: check --grid 6 --block 32 --arg buf:8:zero
// A word of 64 bits arrives as one: both halves always hold the same number.
extern "C" __global__ void check(volatile unsigned long long *word) {
    unsigned long long me = blockIdx.x;
    for (int i = 0; i < 8; i++) {
        if (threadIdx.x == 0) *word = me << 32 | me;
        unsigned long long read = *word;
        if (read >> 32 != (unsigned)read) __trap();
    }
}
