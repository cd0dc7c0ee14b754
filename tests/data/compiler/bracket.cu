#include "warpbook.cuh"
#define SLOTS 32;

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float slots[SLOTS]; i = slots[0];  // ERROR: remove the ; at the end of the #define of SLOTS: it gets between [ and ]  // ERROR
    out[i] = sum + i;
}
