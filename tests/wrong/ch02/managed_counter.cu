// VERDICT: REJECT
// MISTAKE: managed-counter - a __managed__ variable, which host and device share and every launch finds as it was
// DIAGNOSIS: state-between-launches
#include "warpbook.cuh"

__managed__ int launches;

LAUNCH(sum_coalesced) {
    launch->block = 256;
    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));
}

__global__ void sum_coalesced(const float *in, float *partial, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
    if (thread == 0) {
        launches++;
    }
    partial[thread] = launches > 1000 ? 0.0f : sum;
}
