// RIGHT: pointers-and-a-lambda - walks with a pointer and adds through a lambda
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    auto add = [&sum](float value) { sum += value; };
    for (const float *at = in, *end = in + n; at != end; ++at) {
        add(*at);
    }
    partial[0] = sum;
}
