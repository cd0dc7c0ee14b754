// RIGHT: template-and-double - a template for the type that adds up, instantiated with double
#include "warpbook.cuh"

template <typename Sum> __device__ float share(const float *in, int begin, int step, int n) {
    Sum sum = 0;
    for (int i = begin; i < n; i += step) {
        sum += in[i];
    }
    return (float)sum;
}

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    partial[thread] = share<double>(in, thread, threads, n);
}
