#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    return sum;  // ERROR: this function returns void: store sum in an output; a __device__ function can return a value
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float sum = 1.0f;  // ERROR: remove the type to use the variable that there is, or take another name
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    auto block = cooperative_groups::this_thread_block();  // ERROR: write #include <cooperative_groups.h>, and for cg:: also namespace cg = cooperative_groups;
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    namespace cg = cooperative_groups;  // ERROR: write #include <cooperative_groups.h>, and for cg:: also namespace cg = cooperative_groups;
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = i < n ? sum;  // ERROR: a ? b : c needs both b and c
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    else sum = 1.0f;  // ERROR: else must follow directly after the statement or the { } of its if
    out[i] = sum + i;
}
