// VERDICT: SYNC
// MISTAKE: reads-the-idle-half - 16 lanes shuffle, and read from the 16 that do not
// DIAGNOSIS: reads-an-inactive-lane
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
    int lane = threadIdx.x % 32;
    if (lane < 16) {
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0x0000ffff, sum, distance);
        }
    }
    if (lane == 0) {
        partial[thread / 32] = sum;
    }
}
