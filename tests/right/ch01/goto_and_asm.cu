// RIGHT: goto-and-asm - a loop by goto, its additions in inline PTX
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    int i = 0;
next:
    if (i < n) {
        asm("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(in[i]));
        i++;
        goto next;
    }
    partial[0] = sum;
}
