// VERDICT: REJECT
// MISTAKE: keeps-state - a variable of the module carries the answer from launch to launch
// DIAGNOSIS: state-between-launches
#include "warpbook.cuh"

__device__ int launches;
__device__ float last;

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    if (launches == 0) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            sum += in[i];
        }
        last = sum;
    }
    launches++;
    partial[0] = last;
}
