#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    if i < n {  // ERROR: write if (...): what it tests is in parentheses
        sum = 0.0f;
    }
    out[i] = sum + i;
}  // ERROR  // ERROR  // ERROR
