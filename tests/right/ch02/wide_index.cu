// RIGHT: wide-index - 64-bit indices, which no n overflows
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (size_t i = thread; i < (size_t)n; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
