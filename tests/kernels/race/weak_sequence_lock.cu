// CLEAN
// RUN: check --grid 4 --block 32 --arg buf:4:zero --arg buf:8:zero
// A sequence lock: what was read counts only if the number is even and the same before and after.
extern "C" __global__ void check(volatile unsigned *number, volatile int *pair) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i <= 5; i++) {
            *number = 2 * i - 1;
            __threadfence();
            pair[0] = i;
            pair[1] = i;
            __threadfence();
            *number = 2 * i;
        }
        return;
    }
    unsigned before, after;
    int one, two;
    do {
        before = *number;
        __threadfence();
        one = pair[0];
        two = pair[1];
        __threadfence();
        after = *number;
    } while (before % 2 || before != after);
    if (one != two || one != (int)before / 2) __trap();
}
