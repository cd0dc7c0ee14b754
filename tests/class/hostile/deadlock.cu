// Half of a warp waits at a barrier for the other half, which waits for the first.
#include "warpbook.cuh"
LAUNCH(sum_shuffle) { launch->grid = 1; launch->block = 64; }
__global__ void sum_shuffle(const float *in, float *partial, int n) {
    if (threadIdx.x % 32 < 16) __syncthreads();
    else __syncwarp();
    partial[threadIdx.x / 32] = 0;
}
