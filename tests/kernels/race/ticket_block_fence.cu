// FINDS: RACE line 10 other 6
// RUN: sum --grid 5 --block 32 --arg buf:20 --arg buf:4:zero --arg buf:4
// __threadfence_block() reaches no other block.
extern "C" __global__ void sum(float *partial, unsigned *count, float *out) {
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = 1;
        __threadfence_block();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            float sum = 0;
            for (int i = 0; i < gridDim.x; i++) sum += partial[i];
            *out = sum;
        }
    }
}
