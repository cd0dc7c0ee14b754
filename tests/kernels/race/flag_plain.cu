// FINDS: RACE line 9 other 8
// RUN: pass --grid 2 --block 1 --arg buf:4:zero --arg buf:4:zero --arg buf:4
// A flag that is written with a plain store.
extern "C" __global__ void pass(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 1;
        __threadfence();
        *flag = 1;
    } else if (atomicAdd(flag, 0)) {
        __threadfence();
        *out = *data;
    }
}
