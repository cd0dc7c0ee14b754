#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float tile[32, 32]; tile[0][0] = sum;  // ERROR: write [32][32]: each dimension has its [ ]  // ERROR  // ERROR: only a pointer or an array has elements [i]
    out[i] = sum + i;
}
