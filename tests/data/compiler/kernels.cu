#include "warpbook.cuh"
__global__ void other() {}
__global__ int counted() { return 1; }  // ERROR: write __global__ void, and store results in a buffer; a __device__ function can return a value
__device__ square(float a) { return a * a; }  // ERROR: write the type of what the function returns before its name
LAUNCH(two) { launch->grid = {1, 2}; }  // ERROR: write a number, or dim3(x, y)
LAUNCH(three) { launch.block = 256; }  // ERROR: write launch->block: launch is a pointer
LAUNCH(four) { launch->shared_bytes = 256; }  // ERROR: launch has the parts grid, block and shared

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    other<<<1, 1>>>();  // ERROR: a kernel of the workbook launches no other: call a __device__ function
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    other();  // ERROR: a kernel of the workbook launches no other: call a __device__ function
    out[i] = sum + i;
}
