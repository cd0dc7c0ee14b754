// EXPERIMENT: The last of 1,000 blocks waits for the others, which do not wait.
// RUN: build/bin/emulate $PTX collect --grid 1000 --block 32 --arg buf:8000:zero
// SHOWS: the last block has seen 999 others
#include <cstdio>

extern "C" __global__ void collect(volatile unsigned long long *place) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x != gridDim.x - 1) {
        place[blockIdx.x] = 1;
        return;
    }
    unsigned long long seen = 0;
    for (int i = 0; i < gridDim.x - 1; i++) {
        while (place[i] == 0) {
        }
        seen += place[i];
    }
    printf("the last block has seen %lld others\n", (long long)seen);
}
