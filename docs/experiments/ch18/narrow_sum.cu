// EXPERIMENT: 1,000 times 1, added in bfloat16 and in float.
// RUN: build/bin/emulate $PTX add --grid 1 --block 1
// SHOWS: in bfloat16: 256
// SHOWS: in float: 1000
#include <cstdio>
#include <cuda_bf16.h>

extern "C" __global__ void add() {
    __nv_bfloat16 narrow = 0.0f;
    float wide = 0.0f;
    for (int i = 0; i < 1000; i++) {
        narrow = (float)narrow + 1.0f; // rounded to 8 bits: from 256 on, adding 1 changes nothing
        wide += 1.0f;
    }
    printf("in bfloat16: %g\nin float: %g\n", (float)narrow, wide);
}
