// VERDICT: WRONG
// MISTAKE: half-accumulator - adds up in fp16, which holds whole numbers to 2,048 only
// DIAGNOSIS: low-precision
#include <cuda_fp16.h>

#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    __half sum = __float2half(0.0f);
    for (int i = 0; i < n; i++) {
        sum = __hadd(sum, __float2half(in[i]));
    }
    partial[0] = __half2float(sum);
}
