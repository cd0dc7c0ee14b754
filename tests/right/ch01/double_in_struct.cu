// RIGHT: double-in-struct - a double in a struct with padding that nobody sets, rounded once at the end
#include "warpbook.cuh"

// The number of blocks, and the number of threads in each.
// In a program of your own this launch reads: sum_single<<<1, 1>>>(in, partial, n)
LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

// A running sum and how many are in it; seven bytes at the end are padding.
struct Running {
    double sum;
    char tag;
};

__device__ Running add(Running to, float x) {
    to.sum += x;
    return to;
}

// __global__ makes it a kernel: the host starts it, the GPU runs it.
// in: n floats. partial: one float, the sum of them all.
__global__ void sum_single(const float *in, float *partial, int n) {
    Running all = {0.0, 0};

    for (const float *at = in, *end = in + n; at < end; ++at) {
        all = add(all, *at);
    }

    partial[0] = (float)all.sum;
}
