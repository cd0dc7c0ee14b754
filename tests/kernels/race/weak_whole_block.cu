// CLEAN
// RUN: pass --grid 2 --block 96 --arg buf:384:zero --arg buf:4:zero
// All threads store, one executes the fence; one waits, all read: barriers pass on what the fences order.
extern "C" __global__ void pass(volatile int *data, volatile int *flag) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t + 1;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            *flag = 1;
        }
    } else {
        if (t == 0) {
            while (*flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        if (data[95 - t] != 96 - t) __trap();
    }
}
