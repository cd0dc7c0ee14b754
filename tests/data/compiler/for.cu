#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    for (int k = 0; k < n, k++) sum += 1.0f;  // ERROR: the three parts of for (...; ...; ...) are separated by ;
    out[i] = sum + i;
}
