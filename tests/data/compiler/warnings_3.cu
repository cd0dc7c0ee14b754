#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    int past = (int)in / 4 % 4; sum += past;  // WARNING: an address has 64 bits: write (size_t)
    out[i] = sum + i;
}
