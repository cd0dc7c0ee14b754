#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
#line 7 "../../../../../../etc/passwd"
    partial[0] = in[n];
}
