#include "warpbook.cuh"
#define STEP 4
template <int n> __device__ float first(const float *in) {
    return in[n];
}

__global__ void k(const float *in, float *out, int n) {
    out[0] = first<4>(in, STEP);  // ERROR
}
