// FINDS: RACE line 8 other 6
// RUN: pass --grid 4 --block 32 --arg buf:512:zero --arg buf:512
// A block reads what another writes: __syncthreads() orders one block only.
extern "C" __global__ void pass(int *data, int *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    data[i] = i;
    __syncthreads();
    out[i] = data[(i + 32) % 128];
}
