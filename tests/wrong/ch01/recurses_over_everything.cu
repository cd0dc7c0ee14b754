// VERDICT: FAULT
// MISTAKE: recurses-over-everything - a call for each element: the stack is full long before the end
// DIAGNOSIS: stack-overflow
#include "warpbook.cuh"

__device__ __noinline__ float sum_from(const float *in, int n) {
    return n == 0 ? 0.0f : in[0] + sum_from(in + 1, n - 1);
}

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) { partial[0] = sum_from(in, n); }
