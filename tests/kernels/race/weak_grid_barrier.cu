// CLEAN
// RUN: rounds --grid 6 --block 64 --arg buf:48:zero --arg buf:4:zero
// Rounds with a barrier of the grid between them: values are volatile, and one thread's fences serve its block.
__device__ void wait_for_all(unsigned *arrived, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < goal) {}
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void rounds(volatile int *values, unsigned *arrived) {
    for (int round = 1; round <= 3; round++) {
        volatile int *now = values + round % 2 * gridDim.x;
        if (threadIdx.x == 40) now[blockIdx.x] = round * 10 + blockIdx.x;
        wait_for_all(arrived, round * gridDim.x);
        if (threadIdx.x < gridDim.x && now[threadIdx.x] != round * 10 + (int)threadIdx.x) __trap();
    }
}
