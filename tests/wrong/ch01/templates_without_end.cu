// VERDICT: BUILD
// MISTAKE: templates-without-end - a template that asks for the next one, and no last one
// DIAGNOSIS: code-without-end
#include "warpbook.cuh"

template <int i> __device__ float sum_from(const float *in, int n) {
    return i < n ? in[i] + sum_from<i + 1>(in, n) : 0.0f;
}

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    partial[0] = sum_from<0>(in, n);
}
