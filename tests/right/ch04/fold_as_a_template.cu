// RIGHT: fold-as-a-template - the levels unrolled by recursion over a template parameter
#include "warpbook.cuh"

template <int distance> __device__ float fold(float value) {
    if constexpr (distance > 0) {
        return fold<distance / 2>(value + __shfl_down_sync(0xffffffff, value, distance));
    }
    return value;
}

LAUNCH(sum_shuffle) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_shuffle(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    sum = fold<16>(sum);
    if (threadIdx.x % 32 == 0) {
        partial[thread / 32] = sum;
    }
}
