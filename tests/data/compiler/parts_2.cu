#include "warpbook.cuh"

struct Answer {
    int peak;
    int ridge;
    float part;
};

__global__ void k8(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = part;  // ERROR: write of_all->part: part is a part of Answer
    out[i] = sum + i;
}

__global__ void k9(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    _shared_ float slots[32]; slots[0] = sum;  // ERROR: write __shared__ if you mean that: there is no _shared_  // ERROR  // ERROR
    out[i] = sum + i;
}

__global__ void k10(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = __hadd2(sum, sum);  // ERROR: write #include <cuda_bf16.h> at the top
    out[i] = sum + i;
}

__global__ void k11(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    For (int k = 0; k < n; k++) sum += in[k];  // ERROR  // ERROR  // ERROR: write for if you mean that: there is no For
    out[i] = sum + i;
}

__global__ void k12(const float *in, float *out, int n, const GpuFigures *shape, const Answer *of_all, LaunchShape *launch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __nv_bfloat16 b = __float2bfloat16(sum);
    out[i] = sum + i;
}
