// VERDICT: LAUNCH
// MISTAKE: launches-a-warp - 32 threads, where the chapter is about one
// DIAGNOSIS: another-launch-shape
#include "warpbook.cuh"

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 32;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            sum += in[i];
        }
        partial[0] = sum;
    }
}
