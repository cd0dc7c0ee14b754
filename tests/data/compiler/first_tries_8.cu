#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    for (int k = 8; k > 0; k =/ 2) sum += k;  // ERROR: write /= to change the variable: the operator is before =
    out[i] = sum + i;
}
