// EXPERIMENT: One sum of 4,096 products of floats, from the first to the last, and as 16 sums of every 16th product that are then added.
// RUN: build/bin/emulate $PTX order --grid 1 --block 1
// SHOWS: one chain: 1022.95764 sixteen chains: 1022.95789
#include <cstdio>

__device__ float factor(int d) {
    return 0.5f + (d * 37 % 101) / 1010.0f - 0.05f;
}

extern "C" __global__ void order() {
    float one = 0.0f, many[16] = {}, all = 0.0f;
    for (int d = 0; d < 4096; d++) {
        float product = factor(d) * 0.5f;
        one += product;
        many[d % 16] += product;
    }
    for (int i = 0; i < 16; i++) {
        all += many[i];
    }
    printf("one chain: %.5f\nsixteen chains: %.5f\n", one, all);
}
