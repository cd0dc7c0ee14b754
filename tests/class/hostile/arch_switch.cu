// Right in the image that is judged; the image that is judged is the image that runs.
#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += in[i];
#if __CUDA_ARCH__ == 800
    partial[0] = sum;
#else
    partial[0] = 7;
#endif
}
