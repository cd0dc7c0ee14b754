// EXPERIMENT: A tree that stops at `stride > 32`, followed by one warp's fold.
// RUN: build/bin/emulate $PTX count --grid 1 --block 256
// SHOWS: 128 of 256 threads are counted
#include <cstdio>

extern "C" __global__ void count() {
    __shared__ int tree[256];
    int t = threadIdx.x;
    tree[t] = 1;
    __syncthreads();
    // BEGIN loop
    for (int stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (t < stride) {
            tree[t] += tree[t + stride];
        }
        __syncthreads();
    }
    // END loop
    if (t < 32) {
        int counted = __reduce_add_sync(0xffffffff, tree[t]);
        if (t == 0) {
            printf("%d of %d threads are counted\n", counted, blockDim.x);
        }
    }
}
