// FINDS: RACE line 7 other 8
// RUN: find --grid 1 --block 32 --arg buf:4
// The lanes of one warp.
extern "C" __global__ void find(int *out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x; __syncwarp();
    if (threadIdx.x == 31) out[0] = tile[0];
    tile[0] = 0;
}
