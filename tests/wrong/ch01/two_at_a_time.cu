// VERDICT: OOB
// MISTAKE: two-at-a-time - two elements a turn, and an odd n has no second one in the last turn
// DIAGNOSIS: part-of-a-group
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
    for (int i = 0; i < n; i += 2) {
        sum += in[i] + in[i + 1];
    }

    partial[0] = sum;
}
