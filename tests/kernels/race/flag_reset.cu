// CLEAN
// RUN: sum --grid 8 --block 32 --arg buf:32 --arg buf:32:zero --arg buf:4
// Who saw a flag comes behind the store that set it, and may clear it with a plain store.
extern "C" __global__ void sum(float *partial, unsigned *flag, float *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x != 0) {
        partial[blockIdx.x] = 1;
        __threadfence();
        ((volatile unsigned *)flag)[blockIdx.x] = 1;
        return;
    }
    float sum = 0;
    for (int i = 1; i < gridDim.x; i++) {
        while (((volatile unsigned *)flag)[i] == 0) {
        }
        __threadfence();
        sum += partial[i];
        flag[i] = 0;
    }
    *out = sum;
}
