// VERDICT: TIMEOUT
// MISTAKE: backwards-unsigned - counts down with an unsigned index, which is never below 0 and wraps round
// DIAGNOSIS: unsigned-below-zero
#include "warpbook.cuh"

// How many blocks, and how many threads in each.
// In a program of your own this launch reads: sum_single<<<1, 1>>>(in, partial, n)
LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

// __global__ makes it a kernel: the host starts it, the GPU runs it.
// in: n floats. partial: one float, the sum of them all.
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (unsigned i = n - 1; i >= 0; i--) {
        sum += in[i];
    }

    partial[0] = sum;
}
