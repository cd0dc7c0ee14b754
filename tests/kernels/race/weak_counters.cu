// CLEAN
// RUN: watch --grid 4 --block 32 --arg buf:8:zero
// Two counters that only grow, read in any order: no fence is needed for each by itself.
extern "C" __global__ void watch(volatile int *counters) {
    if (threadIdx.x > 1) return;
    if (blockIdx.x == 0) {
        for (int i = 1; i <= 10; i++) counters[threadIdx.x] = i;
        return;
    }
    int one = 0, two = 0;
    while (one < 10 || two < 10) {
        int a = counters[0], b = counters[1];
        if (a < one || b < two) __trap();
        one = a;
        two = b;
    }
}
