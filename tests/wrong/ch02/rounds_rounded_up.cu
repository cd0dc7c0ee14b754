// VERDICT: OOB
// MISTAKE: rounds-rounded-up - every thread does as many rounds, rounded up, and nobody asks whether there is an element in the last
// DIAGNOSIS: no-bound
#include "warpbook.cuh"

// As many blocks as n needs, at most 8 for each SM of the GPU; ceil_div is a division that rounds up.
// In a program of your own this launch reads: sum_coalesced<<<grid, 256>>>(in, partial, n)
LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// in: n floats. partial: one float for each thread of the grid, the sum of that thread's share.
__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    int rounds = (int)ceil_div(n, threads);
    for (int round = 0; round < rounds; round++) {
        sum += in[round * threads + thread];
    }

    partial[thread] = sum;
}
