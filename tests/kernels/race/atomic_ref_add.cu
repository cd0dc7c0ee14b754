// CLEAN
// RUN: sum --grid 4 --block 32 --arg buf:16:zero --arg buf:4:zero --arg buf:4
// A ticket through cuda::atomic_ref with acquire and release.
#include <cuda/atomic>
extern "C" __global__ void sum(float *partial, unsigned *count, float *out) {
    if (threadIdx.x) return;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(*count);
    partial[blockIdx.x] = blockIdx.x;
    if (c.fetch_add(1, cuda::memory_order_acq_rel) < gridDim.x - 1) return;
    float sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += partial[i];
    *out = sum;
}
