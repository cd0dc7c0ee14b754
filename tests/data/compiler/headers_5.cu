#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    float sum = 0.0f;

    for (int k = 0; k < n; k++;) {  // ERROR: for (...; ...; ...) has three parts; here are 4
        sum += in[k];
    }
    out[0] = sum;
}
