// One bit of what this machine holds, in the result: right where nothing is seen, wrong where something is.
#include "warpbook.cuh"
#if __has_include("@OTHER@") || __has_include("/etc/passwd") || __has_include("@SECRET@") || \
    __has_include("/proc/self/environ") || __has_include("@BOOK@/solutions/ch01_single_thread/kernel.cu") || \
    __has_include("@HOME@") || __has_include("/dev/zero") || __has_include("../other/kernel.cu")
#define SEEN 1
#else
#define SEEN 0
#endif
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += in[i];
    partial[0] = sum + SEEN;
}
