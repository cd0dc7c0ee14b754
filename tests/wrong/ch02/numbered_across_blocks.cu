// VERDICT: SLOW
// MISTAKE: numbered-across-blocks - threads are numbered across the blocks first, so that lanes are gridDim.x elements apart
// DIAGNOSIS: uncoalesced
#include "warpbook.cuh"

// As many blocks as n needs, at most 8 for each SM of the GPU; ceil_div is a division that rounds up.
// In a program of your own this launch reads: sum_coalesced<<<grid, 256>>>(in, partial, n)
LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. partial: one float for each thread of the grid, the sum of that thread's share.
__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = threadIdx.x * gridDim.x + blockIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }

    partial[thread] = sum;
}
