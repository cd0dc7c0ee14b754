// VERDICT: SLOW
// MISTAKE: stretch-not-of-warps - some lanes have a round more: a warp's stretch is no multiple of 32 floats
// DIAGNOSIS: lanes-load-apart
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

// Each warp has a stretch that its lanes walk along side by side.
__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    int warps = gridDim.x * blockDim.x / 32;
    int length = (n + warps - 1) / warps;
    long long from = (long long)(me / 32) * length;
    int end = (int)min(from + length, (long long)n);
    float sum = 0.0f;
    for (int at = (int)min(from, (long long)n) + me % 32; at < end; at += 32) {
        sum += in[at];
    }
    partial[me] = sum;
}
