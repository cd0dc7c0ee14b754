#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    if (i < n) { sum = 1.0f;
    out[i] = sum + i;
}

LAUNCH(next) {  // ERROR: a { above this line is not closed: the function before it has no end  // ERROR
    launch->block = 1;
}  // ERROR: a { is not closed; the note says which one, but the missing } may be further up in it
