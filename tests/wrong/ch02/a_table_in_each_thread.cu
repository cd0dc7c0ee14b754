// VERDICT: RESOURCE
// MISTAKE: a-table-in-each-thread - a table for each thread that no GPU has the memory for
// DIAGNOSIS: huge-local-array
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float mine[1 << 20];
    int count = 0;
    for (int i = thread; i < n; i += threads) {
        mine[count++ & 0xfffff] = in[i];
    }
    float sum = 0.0f;
    while (count > 0) {
        sum += mine[--count & 0xfffff];
    }
    partial[thread] = sum;
}
