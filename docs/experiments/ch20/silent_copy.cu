// EXPERIMENT: A copy that is refused, in a program that does not look at errors.
// NEEDS: nvcc
// RUN: ./warpbook run docs/experiments/ch20/silent_copy.cu
// SHOWS: copied 0, not 42
// SHOWS: invalid argument
#include <cstdio>

__global__ void answer(int *at) { *at = 42; }

int main() {
    int *there, copied = 0;
    cudaMalloc(&there, sizeof *there);
    answer<<<1, 1>>>(there);
    cudaMemcpy(&copied, there, sizeof copied, cudaMemcpyHostToDevice); // the other way round
    printf("copied %d, not 42; the call said: %s\n", copied, cudaGetErrorString(cudaGetLastError()));
    cudaFree(there);
}
