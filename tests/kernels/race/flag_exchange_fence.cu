// FINDS: RACE line 12 other 7
// RUN: pass --grid 2 --block 32 --arg buf:4:zero --arg buf:4:zero --arg buf:4
// A flag without a fence before it.
extern "C" __global__ void pass(int *data, int *flag, int *out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 5;
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *out = *data;
    }
}
