#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += __shfl_down_sync(sum, 1);  // ERROR: write __shfl_down_sync(0xffffffff, value, distance): the first argument is the mask of the lanes that take part
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float4 v = reinterpret_cast<const float4 *>(in)[i], u = v;
    float2 w = make_float2(v.x, v.y);
    v = __shfl_down_sync(0xffffffff, v, 1);  // ERROR: shuffle the parts of a float4 one by one: .x, then .y and so on
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += __shfl_down_sync("all", sum, 1);  // ERROR: the first argument of __shfl_down_sync is the mask of the lanes that take part, 0xffffffff for all of them; the second is the value
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += __shfl_down(sum, 1);  // ERROR: write __shfl_down_sync(0xffffffff, value, ...): the mask names the lanes that take part
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = __reduce_add_sync(0xffffffff, sum);  // ERROR: __reduce_add_sync takes int and unsigned only: use shuffles for floats
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __syncthreads(32);  // ERROR: write __syncthreads(): it takes no arguments
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    i = __ballot_sync("all", i);  // ERROR: the first argument of __ballot_sync is the mask of the lanes that take part, 0xffffffff for all of them
    out[i] = sum + i;
}
