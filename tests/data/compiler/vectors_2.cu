#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    v = 0.0f;  // ERROR: write make_float4(x, y, z, w): a float4 is made of four numbers
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    w = 1;  // ERROR: write make_float2(x, y): a float2 is made of two numbers
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    sum += v->x;  // ERROR: write v.x: v is not a pointer
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    sum += v.a;  // ERROR: the parts are .x, .y, .z and .w
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    i = threadIdx;  // ERROR: write threadIdx.x: it has the parts .x, .y and .z
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    i = blockDim * 2;  // ERROR: write blockDim.x: it has the parts .x, .y and .z, and no arithmetic as a whole
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    i = threadIdx.X;  // ERROR: the parts are .x, .y and .z
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    v /= 4.0f;  // ERROR: CUDA's vectors such as float4 have no arithmetic as a whole: write it for .x, .y, .z and .w one by one
    out[i] = sum + i;
}
