// VERDICT: SLOW
// MISTAKE: a-shuffle-for-each-lane - right, with 31 shuffles where five would do
// DIAGNOSIS: too-many-shuffles
#include "warpbook.cuh"

LAUNCH(sum_shuffle) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    float total = sum;
    for (int lane = 1; lane < 32; lane++) {
        total += __shfl_sync(0xffffffff, sum, lane);
    }
    if (threadIdx.x % 32 == 0) {
        partial[thread / 32] = total;
    }
}
