#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float row = out + n;  // ERROR: write float *row: the value on the right is a pointer
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    const float start = in + n;  // ERROR: write const float *start: the value on the right is a pointer
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += in(i);  // ERROR: write in[i] for an element: in is not a function
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    const float4 *four = (float4)(in + n);  // ERROR: write (const float4 *)(...): without the *, the cast makes a float4 of the address
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(out[0] += sum);  // ERROR: atomicAdd takes an address and a value: atomicAdd(&x, value)
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float *place = out + sum;  // ERROR: only an integer can be added to a pointer or subtracted from it
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float slots(32);  // ERROR: write slots[32]: the size of an array is in brackets
    out[i] = sum + i;
}
