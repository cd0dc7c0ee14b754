#include "warpbook.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    sum += h2;  // ERROR: a half2 holds two numbers: convert it to a float2 f with __half22float2 or __bfloat1622float2, then use f.x and f.y
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    h2 = h2 * sum;  // ERROR: both operands must have this type: convert the other one, as __float2half2_rn and __float2bfloat162_rn do
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    sum += h;  // ERROR: convert it first: __half2float(h) is a float, and __float2half(f) turns one back
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    sum = h * sum;  // ERROR: convert it first: __half2float(h) is a float, and __float2half(f) turns one back
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    sum += b;  // ERROR: convert it first: __bfloat162float(h) is a float, and __float2bfloat16(f) turns one back
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    sum = b * sum;  // ERROR: convert it first: __bfloat162float(h) is a float, and __float2bfloat16(f) turns one back
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    sum += h2.x + h2.y;  // ERROR: convert it first: __half2float(h) is a float, and __float2half(f) turns one back
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    half h = __float2half(sum);
    half2 h2 = __float2half2_rn(sum);
    __nv_bfloat16 b = __float2bfloat16(sum);
    sum = h2;  // ERROR: a half2 holds two numbers: convert it to a float2 f with __half22float2 or __bfloat1622float2, then use f.x and f.y
    out[i] = sum + i;
}
