// RIGHT: recursion-by-halves - pairwise summation by recursion: as deep as the logarithm of n
#include "warpbook.cuh"

__device__ __noinline__ float sum_between(const float *in, int begin, int end) {
    if (end - begin <= 8) {
        float sum = 0.0f;
        for (int i = begin; i < end; i++) {
            sum += in[i];
        }
        return sum;
    }
    int middle = begin + (end - begin) / 2;
    return sum_between(in, begin, middle) + sum_between(in, middle, end);
}

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) { partial[0] = sum_between(in, 0, n); }
