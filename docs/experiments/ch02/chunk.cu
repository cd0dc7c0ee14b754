// EXPERIMENT: One contiguous chunk for each thread, which is best on a CPU.
// RUN: ./ch02 --device emulator --kernel $PTX
// SHOWS: SLOW
// SHOWS: 16 sectors per load request
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    // BEGIN chunk
    int chunk = (n + threads - 1) / threads;
    for (int k = 0; k < chunk; k++) {
        int i = thread * chunk + k; // lane 0 reads 0, lane 1 reads chunk, lane 2 reads 2 * chunk
        if (i < n) {
            sum += in[i];
        }
    }
    // END chunk
    partial[thread] = sum;
}
