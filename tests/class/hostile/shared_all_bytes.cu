#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    asm volatile("{ .shared .b8 much[18446744073709551615]; st.shared.u8 [much], 1; }");
    partial[0] = in[0];
}
