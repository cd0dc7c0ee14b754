// RIGHT: carries-like-a-counter - neighbouring sums are added as a binary counter carries, with many steps for each element
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float pending[32];

    for (int taken = 0; taken < n; taken++) {
        float carry = in[taken];
        int level = 0;
        for (int bits = taken; bits & 1; bits >>= 1) {
            carry += pending[level];
            level++;
        }
        pending[level] = carry;
    }

    // What is pending at the end: one entry for each bit of n.
    float total = 0.0f;
    int level = 0;
    for (int bits = n; bits != 0; bits >>= 1) {
        if (bits & 1) {
            total += pending[level];
        }
        level++;
    }
    partial[0] = total;
}
