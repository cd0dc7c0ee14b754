#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += “1”;  // ERROR: replace typographic quotation marks, dashes and blanks by those of the keyboard  // ERROR: replace typographic quotation marks, dashes and blanks by those of the keyboard
    out[i] = sum + i;
}
