// FINDS: RACE line 7 other 8
// RUN: find --grid 1 --block 256 --arg buf:4
// An atomic reads too.
extern "C" __global__ void find(int *out) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 5; __syncthreads();
    if (threadIdx.x == 255) out[0] = atomicAdd(&count, 1);
    count = 0;
}
