// VERDICT: WRONG
// MISTAKE: first-warp-twice - thread 0 adds slot 0 to what it holds already
// DIAGNOSIS: first-warp-twice
#include "warpbook.cuh"

template <typename Number> __device__ Number sum_of_warp(Number value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

LAUNCH(sum_shared) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

LAUNCH(sum_shared_double) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

template <typename Number> __device__ void sum_of_all(const Number *in, Number *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    Number sum = 0;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    sum = sum_of_warp(sum);
    __shared__ Number slots[32];
    if (lane == 0) {
        slots[warp] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 0; w < blockDim.x / 32; w++) {
            sum += slots[w];
        }
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void sum_shared(const float *in, float *partial, int n) { sum_of_all(in, partial, n); }

__global__ void sum_shared_double(const double *in, double *partial, int n) { sum_of_all(in, partial, n); }
