#include "warpbook.cuh"
__device__ float early(float a) { return late(a); }  // ERROR: late is declared below, in line 3; a name must be declared above its use
__device__ float late(float a) { return a; }

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = threadidx.x;  // ERROR: write threadIdx if you mean that: there is no threadidx
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __synchthreads();  // ERROR: write __syncthreads if you mean that: there is no __synchthreads
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    summ += 1.0f;  // ERROR: write sum if you mean that: there is no summ
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    { int inner = 1; } i = inner;  // ERROR: the inner of line 29 exists only in the function or { } of that line
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = nowhere;  // ERROR: declare nowhere above this line, or correct its spelling
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h;  // ERROR: write #include <cuda_fp16.h> at the top
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __nv_bfloat16 b;  // ERROR: write #include <cuda_bf16.h> at the top
    out[i] = sum + i;
}
