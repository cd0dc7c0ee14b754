// FINDS: RACE line 9 other 8
// RUN: sum --grid 4 --block 64 --arg buf:4:zero
// A plain read of what others add to.
extern "C" __global__ void sum(float *out) {
    float v = 1;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);

    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
    if (threadIdx.x == 0 && *out > 100) atomicExch(out, 0);
}
