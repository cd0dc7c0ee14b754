// Chapter 2: let neighbouring lanes read neighbouring floats.
//
// The 32 lanes of a warp execute one load together, and memory answers in sectors of 32 bytes. When the
// lanes ask for 32 floats in a row, 4 sectors carry all of them. When every lane asks in a different part
// of the array, the same load needs 32 sectors and throws seven eighths of what they carry away.
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

    // TODO 1: this is right, but each thread walks through a chunk of its own, so the lanes of a warp
    //         stand far apart. Deal the elements out so that they stand side by side at every step.
    int chunk = (int)ceil_div(n, threads);
    int begin = (int)min((long long)thread * chunk, n);
    int end = (int)min((long long)begin + chunk, n);
    for (int i = begin; i < end; i++) {
        sum += in[i];
    }

    partial[thread] = sum;
}
