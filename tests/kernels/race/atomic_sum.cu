// CLEAN
// RUN: sum --grid 4 --block 64 --arg buf:4:zero
// One atomic a block, on memory that the host has zeroed.
extern "C" __global__ void sum(float *out) {
    float v = 1;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);

    if (threadIdx.x % 32 == 0) atomicAdd(out, v);

}
