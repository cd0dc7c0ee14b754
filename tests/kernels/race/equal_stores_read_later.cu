// FINDS: INFO line 7 other 7
// RUN: find --grid 1 --block 256 --arg buf:4
// With barriers on both sides of the stores, all reads are ordered.
extern "C" __global__ void find(int *out) {
    __shared__ int tile[32];
    if (threadIdx.x < 32) tile[threadIdx.x] = 0; __syncthreads(); int before = tile[threadIdx.x % 32]; __syncthreads();
    tile[0] = 7;
    __syncthreads();
    if (threadIdx.x == 255) out[0] = tile[0] + before;
}
