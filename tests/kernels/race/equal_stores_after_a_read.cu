// FINDS: RACE line 7 other 8
// RUN: find --grid 1 --block 256 --arg buf:4
// All threads store the same value behind the read: the last of them hides it from the rest.
extern "C" __global__ void find(int *out) {
    __shared__ int tile[32];
    if (threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x; __syncthreads();
    if (threadIdx.x == 255) out[0] = tile[0];
    tile[0] = 0;
}
