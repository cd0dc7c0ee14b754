// RIGHT: butterfly - both folds by exclusive or, in every warp, and the last thread writes
#include "warpbook.cuh"

LAUNCH(sum_shared) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

LAUNCH(sum_shared_double) {
    launch->block = 512;
    launch->grid = max(1, min(ceil_div(n, 512), 4 * gpu->sm_count));
}

// Every lane receives the sum: both folds leave it everywhere, and any thread may write.
template <typename Number> __device__ Number butterfly(Number value) {
    for (int bit = 16; bit > 0; bit /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, bit);
    }
    return value;
}

template <typename Number> __device__ void sum_by_butterflies(const Number *in, Number *partial, int n) {
    __shared__ Number sum_of[32];
    Number sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    sum = butterfly(sum);
    if (threadIdx.x % 32 == 0) {
        sum_of[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    int lane = threadIdx.x % 32;
    sum = butterfly(lane < blockDim.x / 32 ? sum_of[lane] : Number(0));
    if (threadIdx.x == blockDim.x - 1) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void sum_shared(const float *in, float *partial, int n) { sum_by_butterflies(in, partial, n); }

__global__ void sum_shared_double(const double *in, double *partial, int n) {
    sum_by_butterflies(in, partial, n);
}
