// FINDS: RACE line 8 other 11
// RUN: sum --grid 8 --block 32 --arg buf:32 --arg buf:32:zero --arg buf:4
// Clearing a flag that nobody has looked at: it may be set before or after.
extern "C" __global__ void sum(float *partial, unsigned *flag, float *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x != 0) {
        partial[blockIdx.x] = 1;
        ((volatile unsigned *)flag)[blockIdx.x] = 1;
        return;
    }
    for (int i = 1; i < gridDim.x; i++) flag[i] = 0;
    *out = 0;
}
