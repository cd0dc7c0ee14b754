#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    // BELOW ERROR: end the comment with */
    /* sum
    out[i] = sum + i;
}
