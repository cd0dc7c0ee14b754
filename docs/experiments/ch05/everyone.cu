// EXPERIMENT: Every thread of a block gets the block's largest value.
// RUN: build/bin/emulate $PTX everyone --grid 1 --block 256
// SHOWS: thread 0 knows 255
// SHOWS: thread 200 knows 255
#include <cstdio>

// BEGIN everyone
__device__ int largest_of_block(int value) {
    __shared__ int largest_of[32];
    for (int bit = 1; bit < 32; bit *= 2) {
        value = max(value, __shfl_xor_sync(0xffffffff, value, bit));
    }
    if (threadIdx.x % 32 == 31) {
        largest_of[threadIdx.x / 32] = value; // any lane would do: all of them have it
    }
    __syncthreads();
    for (int warp = 0; warp < blockDim.x / 32; warp++) {
        value = max(value, largest_of[warp]); // one word for all lanes: no conflict
    }
    return value;
}
// END everyone

extern "C" __global__ void everyone() {
    int largest = largest_of_block(threadIdx.x * 7 % 256);
    if (threadIdx.x % 200 == 0) {
        printf("thread %d knows %d\n", threadIdx.x, largest);
    }
}
