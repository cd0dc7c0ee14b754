#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 *a = (const float4 *)(in + n);  // ERROR: write const float4 *: what the pointer leads to is const, and stays so
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    const double *a = in;  // ERROR: write const float *: the pointer on the right leads to float, not to double
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    int *a = out;  // ERROR: write float *: the pointer on the right leads to float, not to int
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    volatile float *b = out; float *a = b;  // ERROR: write volatile float *: what the pointer leads to is volatile, and stays so
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 *a = (in + n);  // ERROR: write const float4 * and (const float4 *)(in + n): what the pointer leads to is const, and stays so
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = reinterpret_cast<float *>(in)[i];  // ERROR: write (const float *)(...): what the pointer leads to is const, and stays so
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 *a = out + n;  // ERROR: write (float4 *)(out + n)
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    out = reinterpret_cast<float *>(in);  // ERROR
    out[i] = sum + i;
}
