// RIGHT: a-warp-a-chunk - each warp walks through a chunk of its own, its lanes side by side
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int warps = gridDim.x * blockDim.x / 32;
    int warp = thread / 32;
    int lane = thread % 32;
    int chunk = (n / 32 + warps) / warps * 32; // whole requests
    long long begin = (long long)warp * chunk;
    float sum = 0.0f;
    for (long long i = begin + lane; i < begin + chunk && i < n; i += 32) {
        sum += in[i];
    }
    partial[thread] = sum;
}
