// RIGHT: unrolled-by-four - four independent loads a round, and a loop for the rest
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    int i = thread;
    for (; i < n - 3 * threads; i += 4 * threads) {
        a += in[i];
        b += in[i + threads];
        c += in[i + 2 * threads];
        d += in[i + 3 * threads];
    }
    for (; i < n; i += threads) {
        a += in[i];
    }
    partial[thread] = (a + b) + (c + d);
}
