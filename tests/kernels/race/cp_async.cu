// CLEAN
// RUN: copy --grid 2 --block 64 --arg buf:512:zero --arg buf:512
// Asynchronous copies, waited for, then a barrier.
#include <cuda_pipeline.h>
extern "C" __global__ void copy(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[blockIdx.x * 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[63 - t];
}
