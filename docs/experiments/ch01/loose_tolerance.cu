// EXPERIMENT: 4,097 numbers between 1 and 2, and their sum without the last.
// RUN: build/bin/emulate $PTX sums --grid 1 --block 1
// SHOWS: a tolerance of 0.001 lets it pass
#include <cstdio>

extern "C" __global__ void sums() {
    float all = 0.0f, without_last = 0.0f;
    for (int i = 0; i < 4097; i++) {
        without_last = all;
        all += 1.0f + i * 7 % 11 / 11.0f;
    }
    float error = (all - without_last) / all;
    printf("%g and %g: a relative error of %.2g\n", all, without_last, error);
    printf("a tolerance of 0.001 %s\n", error < 0.001f ? "lets it pass" : "finds it");
}
