// VERDICT: REJECT
// MISTAKE: static-call-counter - a static variable in the kernel survives the launch
// DIAGNOSIS: state-between-launches
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;

    static __device__ int calls = 0;
    float sum = 0.0f;
    if (atomicAdd(&calls, 1) < 1000000) {
        for (int i = thread; i < n; i += threads) {
            sum += in[i];
        }
    }
    partial[thread] = sum;
}
