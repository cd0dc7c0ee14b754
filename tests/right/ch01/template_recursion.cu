// RIGHT: template-recursion - a template that calls itself adds 32 floats in a tree, and a loop the rest
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

template <int Count> struct Tree {
    static __device__ __forceinline__ float sum(const float *at) {
        return Tree<Count / 2>::sum(at) + Tree<Count - Count / 2>::sum(at + Count / 2);
    }
};
template <> struct Tree<1> {
    static __device__ __forceinline__ float sum(const float *at) { return *at; }
};

__global__ void sum_single(const float *in, float *partial, int n) {
    const float *at = in;
    const float *end = in + n;
    float sum = 0.0f;
    for (; end - at >= 32; at += 32) {
        sum += Tree<32>::sum(at);
    }
    for (; at != end; at++) {
        sum += *at;
    }
    *partial = sum;
}
