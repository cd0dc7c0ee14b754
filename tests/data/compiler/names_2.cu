#include "warpbook.cuh"
LAUNCH(two) { block = 256; }  // ERROR: in LAUNCH, write launch->block

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    launch->grid = 1;  // ERROR: launch exists in LAUNCH(...) { } only
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = WARP_SIZE;  // ERROR: write warpSize if you mean that: there is no WARP_SIZE
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += __shfl_dn_sync(0xffffffff, sum, 1);  // ERROR: write __shfl_down_sync if you mean that: there is no __shfl_dn_sync
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    shared float slots[32];  // ERROR: write __shared__ if you mean that: there is no shared  // ERROR
    out[i] = sum + i;
}
