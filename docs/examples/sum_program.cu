// A complete program with the kernels of chapter 8: docs/your-own-program.md walks through it.
//
//     make own-program && build/own_program 100000000
//
// Exit status: 0 the sums are right, 1 they are not, 2 wrong usage, 3 a CUDA call failed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#ifndef KERNELS
#define KERNELS "../../chapters/ch08_atomics_two_pass/kernel.cu"
#endif
#include KERNELS

// ---- Errors --------------------------------------------------------------------------------------------------

// BEGIN check
// Every call of the runtime returns an error code. An error that is ignored is reported again by a later call.
#define CHECK(call) check((call), #call, __FILE__, __LINE__)

static void check(cudaError_t error, const char *call, const char *file, int line) {
    if (error) { // cudaSuccess is 0
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
        exit(3);
    }
}
// END check

// ---- What the program works on -------------------------------------------------------------------------------

// BEGIN buffers
struct Buffers {
    float *host;    // n floats, pinned
    float *in;      // n floats, on the GPU
    float *partial; // one float for each block
    float *out;     // one float
};

static Buffers allocate(size_t n, int blocks) {
    Buffers b;
    CHECK(cudaMallocHost(&b.host, std::max<size_t>(n, 1) * sizeof(float)));
    CHECK(cudaMalloc(&b.in, std::max<size_t>(n, 1) * sizeof(float)));
    CHECK(cudaMalloc(&b.partial, blocks * sizeof(float)));
    CHECK(cudaMalloc(&b.out, sizeof(float)));
    return b;
}

static void release(Buffers &b) {
    CHECK(cudaFreeHost(b.host));
    CHECK(cudaFree(b.in));
    CHECK(cudaFree(b.partial));
    CHECK(cudaFree(b.out));
}
// END buffers

// BEGIN fill
// Whole numbers from -8 to 8 in no apparent order; returns their sum. Every partial sum is a whole number that
// float holds exactly, so the result must agree to the bit in any order of additions.
static double fill(float *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned mixed = (unsigned)i * 2654435761u >> 16;
        x[i] = (float)(mixed % 17) - 8.0f;
        sum += x[i];
    }
    return sum;
}
// END fill

// ---- The two ways --------------------------------------------------------------------------------------------

// BEGIN launches
const int THREADS = 256;

static void sum_by_atomics(const Buffers &b, int n, int blocks, cudaStream_t stream) {
    CHECK(cudaMemsetAsync(b.out, 0, sizeof(float), stream));
    sum_atomic<<<blocks, THREADS, 0, stream>>>(b.in, b.out, n);
    CHECK(cudaPeekAtLastError());
}

static void sum_in_two_passes(const Buffers &b, int n, int blocks, cudaStream_t stream) {
    sum_blocks<<<blocks, THREADS, 0, stream>>>(b.in, b.partial, n);
    CHECK(cudaPeekAtLastError());
    sum_partials<<<1, 1024, 0, stream>>>(b.partial, b.out, blocks);
    CHECK(cudaPeekAtLastError());
}
// END launches

// ---- Time ----------------------------------------------------------------------------------------------------

using Way = void (*)(const Buffers &, int, int, cudaStream_t);

// BEGIN timing
// The median time of one sum in milliseconds, by events on the stream.
static float measure(Way way, const Buffers &b, int n, int blocks, cudaStream_t stream) {
    cudaEvent_t before, after;
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    way(b, n, blocks, stream); // the first run loads the kernel and is not counted
    std::vector<float> times(21);
    for (float &time : times) {
        CHECK(cudaEventRecord(before, stream));
        way(b, n, blocks, stream);
        CHECK(cudaEventRecord(after, stream));
        CHECK(cudaEventSynchronize(after));
        CHECK(cudaEventElapsedTime(&time, before, after));
    }
    CHECK(cudaEventDestroy(before));
    CHECK(cudaEventDestroy(after));
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}
// END timing

static bool try_way(const char *name, Way way, const Buffers &b, int n, int blocks, double expected) {
    // BEGIN stream
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyAsync(b.in, b.host, n * sizeof(float), cudaMemcpyHostToDevice, stream));
    float milliseconds = measure(way, b, n, blocks, stream);
    float sum = NAN;
    CHECK(cudaMemcpyAsync(&sum, b.out, sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream)); // the host may read `sum` only after this
    CHECK(cudaStreamDestroy(stream));
    // END stream
    bool is_right = sum == (float)expected;
    double bytes = ((double)n + blocks) * sizeof(float);
    printf("%-10s %14.0f  %s  %9.4f ms  %7.1f GB/s\n", name, sum, is_right ? "right" : "WRONG", milliseconds,
           bytes / milliseconds / 1e6);
    return is_right;
}

int main(int count, char **arguments) {
    char *end = nullptr;
    long long n = count == 2 ? strtoll(arguments[1], &end, 10) : 1 << 26;
    if (count > 2 || n < 0 || n > 0x7fffffff - (1 << 20) || (end && *end)) {
        fprintf(stderr, "usage: own_program [N], N from 0 to %d\n", 0x7fffffff - (1 << 20));
        return 2;
    }

    // BEGIN device
    cudaDeviceProp gpu;
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int blocks_per_sm = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, sum_atomic, THREADS, 0));
    long long wanted = (n + THREADS - 1) / THREADS, fit = (long long)blocks_per_sm * gpu.multiProcessorCount;
    int blocks = (int)std::max(1LL, std::min(wanted, fit)); // one wave
    // END device
    printf("%s, %lld floats, %d blocks of %d threads\n", gpu.name, n, blocks, THREADS);

    Buffers b = allocate(n, blocks);
    double expected = fill(b.host, n);
    bool is_right = try_way("atomic", sum_by_atomics, b, (int)n, blocks, expected);
    is_right = try_way("two passes", sum_in_two_passes, b, (int)n, blocks, expected) && is_right;
    release(b);
    return is_right ? 0 : 1;
}
