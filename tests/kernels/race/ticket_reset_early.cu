// FINDS: RACE line 7 other 11
// RUN: sum --grid 12 --block 64 --arg buf:48 --arg buf:4:zero --arg buf:4
// The first to come sets the ticket back, and those that come later draw from it.
extern "C" __global__ void sum(float *partial, unsigned *count, float *out) {
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = 1;
        unsigned drawn = atomicAdd(count, 1);
        if (drawn == gridDim.x - 1) {
            *out = 1;
        }
        if (drawn == 0) *count = 0;
    }
}
