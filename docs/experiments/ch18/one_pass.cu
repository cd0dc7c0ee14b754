// EXPERIMENT: Maximum and sum of 1,024 rising elements: in two passes over the row, then in one with a running maximum.
// RUN: build/bin/emulate $PTX two_passes --grid 1 --block 32 --arg buf:4096:zero --profile | grep -e 'sum' -e '^global_ld_bytes'
// RUN: build/bin/emulate $PTX one_pass --grid 1 --block 32 --arg buf:4096:zero --profile | grep -e 'sum' -e '^global_ld_bytes'
// SHOWS: maximum 1023, sum 1.58198 global_ld_bytes 8192
// SHOWS: maximum 1023, sum 1.58198 global_ld_bytes 4096
#include <cstdio>

const unsigned ALL_LANES = 0xffffffff;

// The buffer holds zeros; its place makes the elements rise.
__device__ float element(const float *in, int i) {
    return in[i] + i;
}

extern "C" __global__ void two_passes(const float *in) {
    float maximum = -1e30f, sum = 0.0f;
    for (int i = threadIdx.x; i < 1024; i += 32) {
        maximum = fmaxf(maximum, element(in, i));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        maximum = fmaxf(maximum, __shfl_xor_sync(ALL_LANES, maximum, distance));
    }
    for (int i = threadIdx.x; i < 1024; i += 32) {
        sum += expf(element(in, i) - maximum);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    }
    if (threadIdx.x == 0) {
        printf("maximum %g, sum %.5f\n", maximum, sum);
    }
}

extern "C" __global__ void one_pass(const float *in) {
    float maximum = -1e30f, sum = 0.0f;
    for (int i = threadIdx.x; i < 1024; i += 32) {
        float value = element(in, i), larger = fmaxf(maximum, value);
        sum = sum * expf(maximum - larger) + expf(value - larger);
        maximum = larger;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(ALL_LANES, maximum, distance), larger = fmaxf(maximum, other);
        float other_sum = __shfl_xor_sync(ALL_LANES, sum, distance);
        sum = sum * expf(maximum - larger) + other_sum * expf(other - larger);
        maximum = larger;
    }
    if (threadIdx.x == 0) {
        printf("maximum %g, sum %.5f\n", maximum, sum);
    }
}
