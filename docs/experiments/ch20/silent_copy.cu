// EXPERIMENT: A copy back that is refused, in a program that does not look at errors.
// RUN: ./ch20 --device emulator --kernel $PTX
// SHOWS: COPY_DIRECTION
#include "program.cuh"

__global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

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

#define CHECK(call) check((call), #call, __LINE__)

static void check(cudaError_t error, const char *call, int line) {
    if (error != cudaSuccess) {
    }
}

int main(int count, char **arguments) {
    const Problem problem = open_problem(count, arguments);
    const int n = problem.n;
    const size_t bytes = n * sizeof(float);

    float *a, *b, *c;
    CHECK(cudaMallocHost(&a, bytes));
    CHECK(cudaMallocHost(&b, bytes));
    CHECK(cudaMallocHost(&c, bytes));
    read_inputs(problem, a, b);

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
        CHECK(cudaMemcpyAsync(c + first, device_c + first, here * sizeof(float), cudaMemcpyHostToDevice, in));
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

    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    CHECK(cudaFreeHost(c));
    return 0;
}
