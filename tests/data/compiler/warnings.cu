#include "warpbook.cuh"
__constant__ float table[4];
__device__ float half_of(float a) { if (a > 0.0f) return 1.0f; }  // WARNING: let every path through the function end with return and a value

__global__ void k0(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    __syncthreads;  // WARNING: write __syncthreads(): without parentheses, nothing is called
    sum == 1.0f;  // WARNING: == compares; = stores
    if (blockDim.x >= 0) sum = 2.0f;  // WARNING: an unsigned number is never below 0: use int, or count up
    int k; sum += k;  // WARNING: set it where it is declared, such as to 0 for a sum
    i = __ballot(1);  // WARNING: write __ballot_sync(0xffffffff, ...): the mask names the lanes that take part
    table[0] = sum;  // WARNING: kernels only read __constant__ variables
    #pragma unroll  // WARNING: put it in the line directly before for
    sum = 3.0f;
    { float sum = 1.0f; out[1] = sum; }  // WARNING: these are two variables: where the first sum is meant, do not declare it again
    int unused;  // WARNING
    int once; once = n;  // WARNING
    printf("%d", sum);  // WARNING: the letter after % says the type: %d int, %u unsigned, %lld long long, %f float and double
    if (i = 3) sum = 0.0f;  // WARNING: = stores; == compares
    int large = 3000000000; out[2] = large;  // WARNING
    out[i] = sum + i;
}
