// CLEAN
// RUN: pass --grid 3 --block 64 --arg buf:256:zero --arg buf:4:zero
// Release and acquire of libcu++ order volatile values.
#include <cuda/atomic>
extern "C" __global__ void pass(volatile int *data, int *flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> state(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t + 1;
        __syncthreads();
        if (t == 0) state.store(1, cuda::memory_order_release);
    } else {
        while (state.load(cuda::memory_order_acquire) == 0) {}
        if (data[63 - t] != 64 - t) __trap();
    }
}
