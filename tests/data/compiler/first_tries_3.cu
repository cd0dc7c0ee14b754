#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float slots[32;  // ERROR: this line has 1 [ and 0 ]
    sum = slots[0];
    out[i] = sum + i;
}
