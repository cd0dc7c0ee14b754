#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    const float4 *a = in;  // ERROR: write (const float4 *)in
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 *a = out;  // ERROR: write (float4 *)out
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 *a = in;  // ERROR: write const float4 * and (const float4 *)in: what the pointer leads to is const, and stays so
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float *a = in;  // ERROR: write const float *: what the pointer leads to is const, and stays so
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 *a = reinterpret_cast<float4 *>(in);  // ERROR: write const float4 *a = (const float4 *)(...): what the pointer leads to is const, and stays so
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = out;  // ERROR: out is a pointer: its elements are out[0], out[1] and so on
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = __syncthreads();  // ERROR: the function that is called returns nothing
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = in.x;  // ERROR: a pointer has no parts: in[i] is one of its elements
    out[i] = sum + i;
}
