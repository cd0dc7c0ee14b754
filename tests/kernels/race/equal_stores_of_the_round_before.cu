// FINDS: RACE line 8 other 10
// RUN: find --grid 1 --block 256 --arg buf:16 --arg i32:0 --arg i32:0
// The read of one round meets the stores of the round before, its own among them.
extern "C" __global__ void find(int *out, int i, int k) {
    __shared__ int tile[32];
    if (threadIdx.x < 32) tile[threadIdx.x] = 0; __syncthreads();
    for (int round = 0; round < 4; round++) {
        if (threadIdx.x == 255) out[round] = tile[k];
        __syncthreads();
        tile[i] = round;
    }
}
