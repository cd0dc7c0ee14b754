#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(out[0], sum);  // ERROR: write atomicAdd(&out[0], ...): an atomic takes the address of what it changes
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(&in[0], sum);  // ERROR: the memory is const here, and atomicAdd would change it
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(&out[0]);  // ERROR: atomicAdd takes an address and a value: atomicAdd(&x, value)
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(out, &sum);  // ERROR: the second argument is a value, not an address
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    long long c = 0; atomicAdd(&c, 1);  // ERROR: use unsigned long long: atomicAdd has no version for long long
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicMax(&out[0], sum);  // ERROR: atomicMax has no version for float: it works on integers, such as the bits that __float_as_int gives
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicCAS(&out[0], sum, sum);  // ERROR: atomicCAS has no version for float: it works on integers, such as the bits that __float_as_int gives
    out[i] = sum + i;
}
