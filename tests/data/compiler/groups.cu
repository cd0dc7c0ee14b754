#include "warpbook.cuh"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    auto w = cg::tiled_partition<33>(cg::this_thread_block());  // ERROR: a tile has 1, 2, 4, 8, 16 or 32 threads
    out[i] = sum + i;
}

__global__ void k1(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    sum = cg::reduce(cg::this_thread_block(), sum, 1);  // ERROR: write #include <cooperative_groups/reduce.h>
    out[i] = sum + i;
}
