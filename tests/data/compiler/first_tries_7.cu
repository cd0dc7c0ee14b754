#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float half = 0,5f; sum += half;  // ERROR: write a point, not a comma, in a number
    out[i] = sum + i;
}
