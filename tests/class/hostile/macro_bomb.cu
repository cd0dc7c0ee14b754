// Four to the twentieth power of plus signs.
#include "warpbook.cuh"
#define A(x) x x x x
#define B(x) A(A(A(A(A(x)))))
#define C(x) B(B(B(B(x))))
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += in[i];
    partial[0] = sum C(+0);
}
