#include "warpbook.cuh"
#include <cstdlib>
float square(float a) { return a * a; }

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = square(sum);  // ERROR: write __device__ before the definition of square in line 3: kernels call no others
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = rand();  // ERROR: rand exists on the host only: a kernel has no files, processes or C++ library
    out[i] = sum + i;
}
