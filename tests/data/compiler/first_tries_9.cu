#include "warpbook.cuh"
constexpr int SIZE == 4;  // ERROR: write = to give a value: == compares  // ERROR
constexpr EDGE = 4;  // ERROR: write the type of EDGE before its name

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ slots[32]; sum = SIZE;  // ERROR: write the type of the elements before slots, as __shared__ float slots[...]
    out[i] = sum + i;
}
