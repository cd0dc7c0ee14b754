#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    int a = 0,
    float b = 0.0f;  // ERROR: line 6 ends with a comma; a statement ends with ;
    out[i] = sum + i;
}
