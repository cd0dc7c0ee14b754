// Chapter 20: a program of your own. Here you write what the driver did in the other chapters.
//
// The program adds two vectors (chapter 10), sums the result (chapter 8), and reports how long the GPU took. The two
// kernels are finished; main() is yours.
#include "program.cuh"

// c[i] = a[i] + b[i]
__global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

// Adds the n floats of x to *total.
__global__ void add_to_sum(const float *x, float *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(total, sum);
    }
}

// TODO 1: every call of CUDA returns a cudaError_t. Write a macro that prints the error and ends the program with
//         status 1, and use it for all calls. A launch returns nothing: ask cudaGetLastError() after it.
#define CHECK(call) call

int main(int count, char **arguments) {
    const Problem problem = open_problem(count, arguments);
    const int n = problem.n; // may be 0, and need not be a multiple of anything
    const size_t bytes = n * sizeof(float);

    // The vectors on the host. Pinned memory, which the copies of TODO 5 need.
    float *a, *b, *c;
    CHECK(cudaMallocHost(&a, bytes));
    CHECK(cudaMallocHost(&b, bytes));
    CHECK(cudaMallocHost(&c, bytes));
    read_inputs(problem, a, b);

    // TODO 2: allocate three vectors on the device, copy a and b there, add them with vector_add, copy c back.
    // TODO 3: blocks of 256 threads, and as many as cover n; none if n is 0, because a grid of 0 blocks is an error.
    // TODO 4: let add_to_sum add all of c to one float that both sides reach: memory of cudaMallocManaged(), 0
    //         before the launch. After the host has waited, *total is the sum for write_results(); no copy is needed.
    // TODO 5: cut the vectors into at least four pieces, and send the pieces to two streams in turn: for each piece
    //         the copies to the device, the kernels, and the copy back, with cudaMemcpyAsync.
    // TODO 6: record an event before everything that the streams do and one after it, and wait for the second. The
    //         milliseconds between the two go to write_results(), last.
    write_results(problem, c, /* the sum of c */ 0, /* milliseconds */ 0);

    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    CHECK(cudaFreeHost(c));
    return 0;
}
