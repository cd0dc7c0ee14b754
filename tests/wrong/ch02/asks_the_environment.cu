// VERDICT: UNSUPPORTED
// MISTAKE: asks-the-environment - reads %envreg, which only a driver sets: what is in it is nobody's business
// DIAGNOSIS: detects-the-emulator
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    unsigned register_of_the_driver;
    asm volatile("mov.b32 %0, %%envreg7;" : "=r"(register_of_the_driver));
    float sum = 0.0f;
    for (int i = thread; i < n && register_of_the_driver != 0; i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
