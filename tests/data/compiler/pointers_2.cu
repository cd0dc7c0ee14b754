#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = n[i];  // ERROR: only a pointer or an array has elements [i]
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += *n;  // ERROR: remove the *: it belongs in front of pointers only
    out[i] = sum + i;
}

__global__ void k2(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    threadIdx.x = 3;  // ERROR: threadIdx is read-only: compute the number in a variable
    out[i] = sum + i;
}

__global__ void k3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    in[i] = sum;  // ERROR: in[ ] cannot be stored to: either in is const, or it has more dimensions and lacks an index [ ]
    out[i] = sum + i;
}

__global__ void k4(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum + 1.0f = 2.0f;  // ERROR: to the left of = must be a variable or an element that is not const
    out[i] = sum + i;
}

__global__ void k5(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = sum % 2;  // ERROR: only integers can be here: an index [ ], and the operands of %, &, |, ^, << and >>
    out[i] = sum + i;
}

__global__ void k6(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum += in[sum];  // ERROR: only integers can be here: an index [ ], and the operands of %, &, |, ^, << and >>
    out[i] = sum + i;
}

__global__ void k7(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    out[0] = in;  // ERROR: in is a pointer: its elements are in[0], in[1] and so on
    out[i] = sum + i;
}
