// FINDS: INFO line 6 other 6
// RUN: find --grid 1 --block 128 --arg buf:4 --arg i32:2
// The first lanes of all warps write the same value.
extern "C" __global__ void find(int *out, int i) {
    __shared__ int found[4];
    if (threadIdx.x % 32 == 0) found[i] = 7;
    __syncthreads();
    if (threadIdx.x == 0) *out = found[i];
}
