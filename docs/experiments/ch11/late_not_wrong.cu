// EXPERIMENT: The same columns read with and without conflicts: the values.
// RUN: build/bin/emulate $PTX read --grid 1 --block 32
// SHOWS: 0 of 32 values differ
#include <cstdio>

extern "C" __global__ void read() {
    __shared__ float plain[32][32], padded[32][33];
    int lane = threadIdx.x;
    for (int row = 0; row < 32; row++) {
        plain[row][lane] = padded[row][lane] = row * 100 + lane;
    }
    __syncthreads();
    unsigned differ = __ballot_sync(0xffffffff, plain[lane][5] != padded[lane][5]);
    if (lane == 0) {
        printf("%d of 32 values differ\n", __popc(differ));
    }
}
