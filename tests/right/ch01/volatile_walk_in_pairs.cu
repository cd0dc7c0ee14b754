// RIGHT: a volatile pointer walks to the end, two elements a step, into two sums
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
    const volatile float *at = in, *end = in + n;
    float even = 0.0f, odd = 0.0f;
    while (end - at >= 2) {
        even += at[0];
        odd += at[1];
        at += 2;
    }
    if (at != end) {
        even += *at;
    }
    sum = even + odd;

    partial[0] = sum;
}
