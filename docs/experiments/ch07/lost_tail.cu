// EXPERIMENT: `if (i + 3 < n)` around a float4, for 4,099 floats.
// RUN: build/bin/emulate $PTX count --grid 1 --block 256 --arg i32:4099 --arg buf:4:zero
// SHOWS: 4096 of 4099
#include <cstdio>

extern "C" __global__ void count(int n, int *counted) {
    // BEGIN guard
    for (int i = 4 * threadIdx.x; i < n; i += 4 * blockDim.x) {
        if (i + 3 < n) { // in bounds, but no thread takes the last n % 4 elements
            atomicAdd(counted, 4);
        }
    }
    // END guard
    __syncthreads();
    if (threadIdx.x == 0) {
        printf("%d of %d elements\n", *counted, n);
    }
}
