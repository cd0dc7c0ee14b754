// CLEAN
// RUN: pass --grid 2 --block 32 --arg buf:8:zero --arg buf:16:zero
// A ring of four places between a writer and a reader: each side has a fence before it lets the other go on.
extern "C" __global__ void pass(volatile unsigned *ends, volatile int *ring) {
    if (threadIdx.x) return;
    for (unsigned i = 0; i < 20; i++)
        if (blockIdx.x == 0) {
            while (i - ends[1] == 4) {}
            __threadfence();
            ring[i % 4] = 100 + i;
            __threadfence();
            ends[0] = i + 1;
        } else {
            while (ends[0] == i) {}
            __threadfence();
            if (ring[i % 4] != 100 + (int)i) __trap();
            __threadfence();
            ends[1] = i + 1;
        }
}
