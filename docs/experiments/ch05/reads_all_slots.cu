// EXPERIMENT: The first warp gathers 32 slots, of which only eight are written.
// RUN: ./ch05 --device emulator --kernel $PTX
// SHOWS: UNINIT
#include "warpbook.cuh"

LAUNCH(sum_shared) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

template <typename Number> __device__ void sum_block(const Number *in, Number *partial, int n) {
    __shared__ Number slots[32];
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    Number mine = 0;
    for (int i = first; i < n; i += gridDim.x * blockDim.x) {
        mine += in[i];
    }
    for (int bit = 1; bit < 32; bit *= 2) {
        mine += __shfl_xor_sync(0xffffffff, mine, bit);
    }
    slots[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = slots[threadIdx.x]; // slots 8 to 31 were never written
        for (int bit = 1; bit < 32; bit *= 2) {
            mine += __shfl_xor_sync(0xffffffff, mine, bit);
        }
        if (threadIdx.x == 0) {
            partial[blockIdx.x] = mine;
        }
    }
}

__global__ void sum_shared(const float *in, float *partial, int n) { sum_block(in, partial, n); }

LAUNCH(sum_shared_double) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shared_double(const double *in, double *partial, int n) { sum_block(in, partial, n); }
