// FINDS: RACE line 14 other 9
// RUN: pass --grid 2 --block 32 --arg buf:128:zero --arg buf:4:zero --arg buf:128
// A relaxed store releases nothing.
#include <cuda/atomic>
extern "C" __global__ void pass(int *data, int *flag, int *out) {
    int t = threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncthreads();
        if (t == 0) f.store(1, cuda::memory_order_relaxed);
    } else {
        while (f.load(cuda::memory_order_acquire) == 0) {}
        out[t] = data[31 - t];
    }
}
