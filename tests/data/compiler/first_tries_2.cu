#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += in[i};  // ERROR: this line has 1 [ and 0 ]  // ERROR
    out[i] = sum + i;  // ERROR  // ERROR  // ERROR  // ERROR
}  // ERROR: there is one } too many above: the function ended before this line
