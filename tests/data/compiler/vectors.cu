#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    sum += v;  // ERROR: write sum += v.x + v.y + v.z + v.w: a float4 is four numbers, and has no arithmetic as a whole
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    sum -= w;  // ERROR: write sum -= w.x + w.y: a float2 is two numbers, and has no arithmetic as a whole
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    sum += reinterpret_cast<const float4 *>(in)[i];  // ERROR: put the float4 into a variable v, then write += v.x + v.y + v.z + v.w: it has no arithmetic as a whole
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    v = v + u;  // ERROR: write make_float4(v.x + u.x, v.y + u.y, v.z + u.z, v.w + u.w): a float4 has no arithmetic as a whole
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    v = v * 2.0f;  // ERROR: CUDA's vectors such as float4 have no arithmetic as a whole: write it for .x, .y, .z and .w one by one
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    sum = v[0];  // ERROR: a float4 has no elements [0] to [3]: its parts are .x, .y, .z and .w
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    sum = v;  // ERROR: a float4 is four numbers: take one, such as v.x, or their sum v.x + v.y + v.z + v.w
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    out[i] = reinterpret_cast<float4 *>(out)[i];  // ERROR: a float4 is 4 numbers: take one of its parts, such as .x
    out[i] = sum + i;
}
