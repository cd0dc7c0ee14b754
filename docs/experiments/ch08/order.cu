// EXPERIMENT: a + b compared with b + a, and (a + b) + c compared with a + (b + c).
// RUN: build/bin/emulate $PTX order --grid 1 --block 1
// SHOWS: a + b is 0.300000012, b + a is 0.300000012
// SHOWS: (a + b) + c is 16777216, a + (b + c) is 16777218
#include <cstdio>

extern "C" __global__ void order() {
    volatile float a = 0.1f, b = 0.2f;
    printf("a + b is %.9g, b + a is %.9g\n", a + b, b + a);
    // BEGIN order
    volatile float big = 16777216.0f, one = 1.0f; // 2^24: the next float is 2 larger
    float left = (big + one) + one;
    float right = big + (one + one);
    // END order
    printf("(a + b) + c is %.9g, a + (b + c) is %.9g\n", left, right);
}
