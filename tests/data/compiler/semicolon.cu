#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += 1.0f
    i = 3;  // ERROR: line 6 has no ; at its end
    out[i] = sum + i;
}
