// SKELETON VERDICT: WRONG
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

// BEGIN SOLUTION
// TODO 1: every call of CUDA returns a cudaError_t. Write a macro that prints the error and ends the program with
//         status 1, and use it for all calls. A launch returns nothing: ask cudaGetLastError() after it.
// SKELETON: #define CHECK(call) call
#define CHECK(call) check((call), #call, __LINE__)

static void check(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) {
        fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(error));
        exit(1);
    }
}
// END SOLUTION

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

    // BEGIN SOLUTION
    // TODO 2: allocate three vectors on the device, copy a and b there, add them with vector_add, copy c back.
    // TODO 3: blocks of 256 threads, and as many as cover n; none if n is 0, because a grid of 0 blocks is an error.
    // TODO 4: let add_to_sum add all of c to one float that both sides reach: memory of cudaMallocManaged(), 0
    //         before the launch. After the host has waited, *total is the sum for write_results(); no copy is needed.
    // TODO 5: cut the vectors into at least four pieces, and send the pieces to two streams in turn: for each piece
    //         the copies to the device, the kernels, and the copy back, with cudaMemcpyAsync.
    // TODO 6: record an event before everything that the streams do and one after it, and wait for the second. The
    //         milliseconds between the two go to write_results(), last.
    // SKELETON: write_results(problem, c, /* the sum of c */ 0, /* milliseconds */ 0);
    float *device_a, *device_b, *device_c, *total;
    CHECK(cudaMalloc(&device_a, bytes));
    CHECK(cudaMalloc(&device_b, bytes));
    CHECK(cudaMalloc(&device_c, bytes));
    CHECK(cudaMallocManaged(&total, sizeof(float)));
    *total = 0;

    const int streams = 2, threads = 256;
    cudaStream_t stream[streams];
    for (int s = 0; s < streams; s++) {
        CHECK(cudaStreamCreate(&stream[s]));
    }
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));

    // The default stream waits for the others, and the others wait for it: both events are in it.
    CHECK(cudaEventRecord(start));
    const int pieces = 8, length = (n + pieces - 1) / pieces;
    for (int piece = 0; piece < pieces; piece++) {
        const int first = piece * length, left = n - first, here = left < length ? left : length;
        if (here <= 0) {
            break;
        }
        cudaStream_t in = stream[piece % streams];
        const int blocks = (here + threads - 1) / threads;
        CHECK(cudaMemcpyAsync(device_a + first, a + first, here * sizeof(float), cudaMemcpyHostToDevice, in));
        CHECK(cudaMemcpyAsync(device_b + first, b + first, here * sizeof(float), cudaMemcpyHostToDevice, in));
        vector_add<<<blocks, threads, 0, in>>>(device_a + first, device_b + first, device_c + first, here);
        CHECK(cudaGetLastError());
        add_to_sum<<<blocks, threads, 0, in>>>(device_c + first, total, here);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(c + first, device_c + first, here * sizeof(float), cudaMemcpyDeviceToHost, in));
    }
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));

    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    write_results(problem, c, *total, milliseconds);

    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    for (int s = 0; s < streams; s++) {
        CHECK(cudaStreamDestroy(stream[s]));
    }
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    CHECK(cudaFree(total));
    // END SOLUTION

    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    CHECK(cudaFreeHost(c));
    return 0;
}
