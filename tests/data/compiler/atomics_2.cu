#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(sum, out);  // ERROR: write atomicAdd(out, sum): the address comes first, then the value
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(&out, sum);  // ERROR: write atomicAdd(out, sum): out is a pointer, which is an address already
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicAdd(sum, &out[0]);  // ERROR: write atomicAdd(&out[0], sum): the address comes first, then the value
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicExch(&out, sum);  // ERROR: write atomicExch(out, sum): out is a pointer, which is an address already
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    atomicMin(&out[0], sum);  // ERROR: atomicMin has no version for float: it works on integers, such as the bits that __float_as_int gives
    out[i] = sum + i;
}
