#include "warpbook.cuh"
template <int n> __device__ float endless(float a) { return endless<n + 1>(a); }  // ERROR: end the recursion: no instance of the template may need another one without end

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = endless<0>(sum);
    out[i] = sum + i;
}
