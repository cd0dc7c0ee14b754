#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = (1.0f + 2.0f;  // ERROR: this line has 1 ( and 0 )
    out[i] = sum + i;
}
