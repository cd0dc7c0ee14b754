// RIGHT: lanes-reversed - the lanes of a warp in reverse order: the same sectors
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    int mirrored = thread ^ 31;
    float sum = 0.0f;
    for (int i = mirrored; i < n; i += threads) {
        sum += __ldg(&in[i]);
    }
    partial[thread] = sum;
}
