// VERDICT: BUILD
// MISTAKE: huge-constant-table - more constant memory than the 64 KiB that there are
// DIAGNOSIS: huge-static-array
#include "warpbook.cuh"

__constant__ float zeros[1 << 20] = {1.0f};

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += in[i] * (zeros[i % 2] + zeros[i % (1 << 20)]);
    }
    partial[0] = sum;
}
