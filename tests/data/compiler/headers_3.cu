#include "warpbook.cuh"

__global__ void k0(const float *in, float *out, int n) {
    float sum = 0.0f;

    for (int k = 0, k < n, k++) {  // ERROR  // ERROR: the three parts of for (...; ...; ...) are separated by ;  // ERROR  // ERROR: the three parts of for (...; ...; ...) are separated by ;
        sum += in[k];
    }
    out[0] = sum;
}
