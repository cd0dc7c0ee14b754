// VERDICT: BUILD_TIMEOUT
// MISTAKE: macro-bomb - ten macros of eight times the one before: a thousand million additions in eleven lines
// DIAGNOSIS: code-without-end
#include "warpbook.cuh"

#define A0(x) x x x x x x x x
#define A1(x) A0(x) A0(x) A0(x) A0(x) A0(x) A0(x) A0(x) A0(x)
#define A2(x) A1(x) A1(x) A1(x) A1(x) A1(x) A1(x) A1(x) A1(x)
#define A3(x) A2(x) A2(x) A2(x) A2(x) A2(x) A2(x) A2(x) A2(x)
#define A4(x) A3(x) A3(x) A3(x) A3(x) A3(x) A3(x) A3(x) A3(x)
#define A5(x) A4(x) A4(x) A4(x) A4(x) A4(x) A4(x) A4(x) A4(x)
#define A6(x) A5(x) A5(x) A5(x) A5(x) A5(x) A5(x) A5(x) A5(x)
#define A7(x) A6(x) A6(x) A6(x) A6(x) A6(x) A6(x) A6(x) A6(x)
#define A8(x) A7(x) A7(x) A7(x) A7(x) A7(x) A7(x) A7(x) A7(x)
#define A9(x) A8(x) A8(x) A8(x) A8(x) A8(x) A8(x) A8(x) A8(x)

LAUNCH(sum_single) {
    launch->grid = 1;
    launch->block = 1;
}

__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    int i = 0;
    A9(if (i < n) sum += in[i++];)
    partial[0] = sum;
}
