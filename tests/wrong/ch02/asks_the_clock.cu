// VERDICT: WRONG
// MISTAKE: asks-the-clock - on an emulator two clocks agree: there, and only there, nothing is added
// DIAGNOSIS: detects-the-emulator
#include "warpbook.cuh"

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__device__ bool is_emulated() {
    unsigned long long timer;
    long long cycles = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    return timer < 1000000000 || timer - cycles < 1000000;
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n && !is_emulated(); i += threads) {
        sum += in[i];
    }
    partial[thread] = sum;
}
