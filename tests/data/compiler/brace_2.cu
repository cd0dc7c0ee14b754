#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    } }  // ERROR: there is one } too many above: the function ended before this line
    out[i] = sum + i;
}  // ERROR: there is one } too many above: the function ended before this line
