// RIGHT: two-sums-a-thread - two sums a thread, brought together at the end, with the stride of two
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;

    float odd = 0.0f;
    int i = thread;
    for (; i + threads < n; i += 2 * threads) {
        sum += in[i];
        odd += in[i + threads];
    }
    if (i < n) {
        sum += in[i];
    }
    sum += odd;

    partial[thread] = sum;
}
