#include "warpbook.cuh"
enum { QUARTERS = 4 };
enum Kind { FIRST, quarter };
struct Answer {
    int warps, blocks;
};

__global__ void k8(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    total = 0.0f;  // ERROR: write a type before total to declare it, such as float total = ..., or correct its spelling
    out[i] = sum + i;
}

__global__ void k9(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = QUARTERS + Quarter;  // ERROR: write quarter if you mean that: there is no Quarter
    out[i] = sum + i;
}

__global__ void k10(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = hadd(sum, sum);  // ERROR: write __hadd if you mean that: there is no hadd
    out[i] = sum + i;
}

__global__ void k11(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    Answer of = {}; of.warps = 2 * warps; sum = of.warps;  // ERROR: declare warps above this line, or correct its spelling
    out[i] = sum + i;
}

__global__ void k12(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = Kind.FIRST;  // ERROR: write FIRST, or Kind::FIRST: Kind is a type
    out[i] = sum + i;
}

__global__ void k13(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    Answer both = (1, 8); sum = both.warps;  // ERROR: write {1, 8}: the parts of Answer are in braces
    out[i] = sum + i;
}
