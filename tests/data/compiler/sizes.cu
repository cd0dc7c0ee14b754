#include "warpbook.cuh"
template <int size> __device__ float first(const float *in) { return in[size]; }

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float slots[blockDim.x / 32];  // ERROR: the compiler must know the size: write a number, as slots[32] for one slot of each warp; or write extern __shared__ float slots[]; and set launch->shared to its bytes
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = first<n>(in);  // ERROR: an argument in < > must be known to the compiler: a number or a constexpr variable  // ERROR
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    constexpr int warps = blockDim.x / 32;  // ERROR: constexpr needs a value that the compiler knows: write const
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    float slots[n];  // ERROR: the size of an array must be a number or a constexpr variable, not a value of the run
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float slots[32] = {0};  // ERROR: remove the initial value: let threads store it into slots, and put a __syncthreads() before it is used
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __shared__ float slots[];  // ERROR: write extern before __shared__, or a number between [ and ]
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    extern __shared__ float a[]; extern __shared__ double a[];  // ERROR: all extern __shared__ arrays of one name have one type: take another name
    out[i] = sum + i;
}
