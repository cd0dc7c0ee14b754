// Chapter 2: let neighbouring lanes read neighbouring floats.
//
// The 32 lanes of a warp execute one load together, and memory answers in sectors of 32 bytes. When the
// lanes ask for 32 floats in a row, 4 sectors carry all of them. When every lane reads in a different part
// of the array, the same load needs 32 sectors and wastes seven eighths of their bytes.
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

    // TODO 1: this is correct, but each thread reads its own chunk, so the addresses of a warp's lanes are
    //         far apart. Assign the elements so that the lanes read neighbouring ones at every step.
    int chunk = (int)ceil_div(n, threads);
    int begin = (int)min((long long)thread * chunk, n);
    int end = (int)min((long long)begin + chunk, n);
    for (int i = begin; i < end; i++) {
        sum += in[i];
    }

    partial[thread] = sum;
}
