// FINDS: RACE line 9 other 7
// RUN: sum --grid 4 --block 64 --arg buf:4:zero
// Block 0 zeroes the sum that other blocks add to.
extern "C" __global__ void sum(float *out) {
    float v = 1;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);

}
