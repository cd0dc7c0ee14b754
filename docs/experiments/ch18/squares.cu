// EXPERIMENT: The variance of 9,999, 10,000 and 10,001, which is 2/3, by two formulas.
// RUN: build/bin/emulate $PTX variance --grid 1 --block 1
// SHOWS: mean of the squares minus square of the mean: 0.000000
// SHOWS: mean of the squared deviations: 0.666667
#include <cstdio>

extern "C" __global__ void variance() {
    float x[] = {9999.0f, 10000.0f, 10001.0f}, sum = 0.0f, squares = 0.0f, deviations = 0.0f;
    for (int i = 0; i < 3; i++) {
        sum = __fadd_rn(sum, x[i]);
        squares = __fadd_rn(squares, __fmul_rn(x[i], x[i])); // about 10^8: the floats there are 8 apart
    }
    float mean = sum / 3.0f;
    for (int i = 0; i < 3; i++) {
        deviations += (x[i] - mean) * (x[i] - mean);
    }
    printf("mean of the squares minus square of the mean: %f\n", __fsub_rn(squares / 3.0f, __fmul_rn(mean, mean)));
    printf("mean of the squared deviations: %f\n", deviations / 3.0f);
}
