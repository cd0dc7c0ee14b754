#include "warpbook.cuh"
#define SLOTS 32;

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float slots[SLOTS]; i = slots[0];  // ERROR: look for a ; between [ and ], also in the #define of a name between them  // ERROR
    out[i] = sum + i;
}
