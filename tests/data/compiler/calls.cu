#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = max(sum, 0);  // ERROR: give both arguments one type: write 0.0f in place of 0, or (float) before the int
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = min(i, sizeof(float));  // ERROR: give both arguments one type, such as min((unsigned long)a, b) for int and unsigned long
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = min(i, n, 32);  // ERROR: min takes two numbers; nest the calls for three
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = ceil_div(n);  // ERROR: write ceil_div(n, block): the number of chunks of block that cover n
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = std::min(i, n);  // ERROR: write min(a, b): CUDA has its own
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    std::vector<float> all;  // ERROR: the C++ library is for the host: in a kernel, use arrays and CUDA's functions  // ERROR
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    i = ceil_div(v, 256);  // ERROR
    out[i] = sum + i;
}
