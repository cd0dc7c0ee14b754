// VERDICT: SLOW
// MISTAKE: chunks-by-cp-async - each thread copies its own chunk with cp.async, four bytes at a time
// DIAGNOSIS: uncoalesced
#include <cuda_pipeline.h>
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

    __shared__ float stage[4][256];
    long long chunk = ceil_div(n, threads);
    long long begin = min(thread * chunk, (long long)n);
    long long end = min(begin + chunk, (long long)n);
    for (long long i = begin; i < end; i += 4) {
        for (int k = 0; k < 4; k++) {
            if (i + k < end) {
                __pipeline_memcpy_async(&stage[k][threadIdx.x], in + i + k, 4);
            }
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        for (int k = 0; k < 4; k++) {
            if (i + k < end) {
                sum += stage[k][threadIdx.x];
            }
        }
    }

    partial[thread] = sum;
}
