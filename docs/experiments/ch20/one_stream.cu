// EXPERIMENT: All pieces in one stream.
// NEEDS: nvcc
// RUN: ./ch20 --device emulator --kernel $PTX
// SHOWS: SLOW
// SHOWS: 0 % of the possible overlap
#include "program.cuh"

__global__ void plus(const float *x, const float *y, float *z, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) z[at] = x[at] + y[at];
}

__global__ void add_up(const float *z, float *sum, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = at < n ? z[at] : 0;
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(0xffffffff, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

static void must(cudaError_t result) {
    if (result) exit(3);
}

int main(int count, char **arguments) {
    const Problem given = open_problem(count, arguments);
    const long n = given.n, all = n * 4, parts = 8;
    float *host[3], *there[3], *sum, ms;
    for (int v = 0; v < 3; v++) {
        must(cudaMallocHost(&host[v], all));
        must(cudaMalloc(&there[v], all));
    }
    read_inputs(given, host[0], host[1]);
    must(cudaMallocManaged(&sum, 4));
    sum[0] = 0;
    cudaStream_t lanes[2];
    for (cudaStream_t &lane : lanes) must(cudaStreamCreate(&lane));
    cudaEvent_t from, to;
    must(cudaEventCreate(&from));
    must(cudaEventCreate(&to));
    must(cudaEventRecord(from));
    for (long p = 0; p < parts; p++) {
        const long begin = n * p / parts, size = n * (p + 1) / parts - begin, bytes = 4 * size;
        cudaStream_t lane = lanes[p % 1];
        if (size == 0) continue;
        for (int v = 0; v < 2; v++)
            must(cudaMemcpyAsync(there[v] + begin, host[v] + begin, bytes, cudaMemcpyDefault, lane));
        plus<<<size / 512 + 1, 512, 0, lane>>>(there[0] + begin, there[1] + begin, there[2] + begin, size);
        add_up<<<size / 512 + 1, 512, 0, lane>>>(there[2] + begin, sum, size);
        must(cudaPeekAtLastError());
        must(cudaMemcpyAsync(host[2] + begin, there[2] + begin, bytes, cudaMemcpyDefault, lane));
    }
    must(cudaEventRecord(to));
    must(cudaEventSynchronize(to));
    must(cudaEventElapsedTime(&ms, from, to));
    write_results(given, host[2], sum[0], ms);
    for (int v = 0; v < 3; v++) {
        must(cudaFreeHost(host[v]));
        must(cudaFree(there[v]));
    }
    must(cudaFree(sum));
    for (cudaStream_t lane : lanes) must(cudaStreamDestroy(lane));
    must(cudaEventDestroy(from));
    must(cudaEventDestroy(to));
}
