// FINDS: RACE line 11 other 8
// RUN: copy --grid 2 --block 64 --arg buf:512:zero --arg buf:512
// Every thread waits for its own copies, none for the others'.
#include <cuda_pipeline.h>
extern "C" __global__ void copy(const float *in, float *out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[blockIdx.x * 64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[blockIdx.x * 64 + t] = s[63 - t];
}
