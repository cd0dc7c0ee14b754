// EXPERIMENT: A thousand numbers added in one chain and in four: may a compiler turn one into the other?
// RUN: build/bin/emulate $PTX chains --grid 1 --block 1
// SHOWS: the sums differ
#include <cstdio>

extern "C" __global__ void chains() {
    // BEGIN chains
    float one = 0.0f;
    for (int i = 0; i < 1000; i++) {
        one += 1.0f / (i + 1);
    }
    float four[4] = {};
    for (int i = 0; i < 1000; i += 4) {
        for (int k = 0; k < 4; k++) {
            four[k] += 1.0f / (i + k + 1);
        }
    }
    float joined = (four[0] + four[1]) + (four[2] + four[3]);
    // END chains
    printf("%.9g and %.9g: the sums %s\n", one, joined, one == joined ? "agree" : "differ");
}
