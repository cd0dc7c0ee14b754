// EXPERIMENT: cudaMalloc with an alignment as a third argument.
// NEEDS: nvcc
// SHOWS: no instance of overloaded function "cudaMalloc" matches the argument list
#include <cuda_runtime.h>

float *allocate(size_t bytes) {
    float *memory = nullptr;
    cudaMalloc(&memory, bytes, 16);
    return memory;
}
