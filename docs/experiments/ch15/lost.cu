// EXPERIMENT: Private copies in shared memory, counted with ++ in place of an atomic.
// RUN: ./ch15 --device emulator --kernel $PTX
// SHOWS: RACE
#include "warpbook.cuh"

LAUNCH(histogram_global) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void histogram_global(const unsigned char *in, unsigned *bins, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[in[i]], 1);
    }
}

LAUNCH(histogram_shared) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void histogram_shared(const unsigned char *in, unsigned *bins, size_t n) {
    __shared__ unsigned counters[256];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    counters[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        counters[in[i]]++; // load, add, store: another thread may store in between
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counters[threadIdx.x]);
}

LAUNCH(histogram_copies) {
    launch->block = 256;
    launch->grid = max(1, ceil_div(n, 256));
}

__global__ void histogram_copies(const unsigned char *in, unsigned *bins, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[in[i]], 1);
    }
}
