// SKELETON VERDICT: WRONG
// Chapter 1: one thread adds everything.
//
// The slowest correct answer: one thread adds the whole array, while a GPU could run thousands of them.
// Every later chapter is measured against it.
#include "warpbook.cuh"

// The number of blocks, and the number of threads in each.
// In a program of your own this launch reads: sum_single<<<1, 1>>>(in, partial, n)
LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

// __global__ makes it a kernel: the host starts it, the GPU runs it.
// in: n floats. partial: one float, the sum of them all.
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;

    // BEGIN SOLUTION
    // TODO 1: visit each of the n elements once and add it to `sum`. n may be 0.
    for (int i = 0; i < n; i++) {
        sum += in[i];
    }
    // END SOLUTION

    partial[0] = sum;
}
