// Sequences of work that bring memory back to where it was, as in a program that measures. They may be left out, but
// not what the program looks at. No variable here is managed: the host may look at such memory at any time.
#include <cstdio>
#include <cstdlib>

const int N = 256;
const size_t BYTES = N * sizeof(int);
static void need_at(bool good, int line) {
    if (good) return;
    fprintf(stderr, "line %d fails\n", line);
    exit(3);
}
#define NEED(good) need_at(good, __LINE__)

__global__ void fill(int *data) { data[threadIdx.x] = 1; }
__global__ void add(const int *from, int *to) { to[threadIdx.x] += from[threadIdx.x]; }
__global__ void twice(int *data) { data[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

static void looks_in_between() {
    int *data, *sum, got[2];
    NEED(!cudaMalloc(&data, BYTES) && !cudaMalloc(&sum, BYTES));
    for (int i = 0; i < 10; i++) {
        NEED(!cudaMemset(sum, 0, BYTES));
        fill<<<1, N>>>(data);
        for (int k = 0; k < i % 4; k++) add<<<1, N>>>(data, sum);
        if (i >= 6) NEED(!cudaMemcpy(got, sum, sizeof got, cudaMemcpyDeviceToHost) && got[1] == i % 4);
        twice<<<1, N>>>(data);
        NEED(!cudaMemcpy(data + N / 2, data, BYTES / 2, cudaMemcpyDeviceToDevice));
        if (i >= 8) NEED(!cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost) && got[0] == 2);
    }
    for (int i = 0; i < 10; i++) { // what is put off happens before memory that it uses is freed
        fill<<<1, N>>>(data);
        NEED(!cudaMemset(sum, 0, BYTES));
        add<<<1, N>>>(data, sum);
        twice<<<1, N>>>(data);
    }
    NEED(!cudaFree(data));
    NEED(!cudaMemcpy(got, sum, sizeof got, cudaMemcpyDeviceToHost) && got[1] == 1 && !cudaFree(sum));
}

static void writes_in_between() {
    int *data, *sum, got[2], other[2] = {5, 6};
    NEED(!cudaMalloc(&data, BYTES) && !cudaMalloc(&sum, BYTES));
    for (int i = 0; i < 10; i++) {
        NEED(!cudaMemset(sum, 0, BYTES));
        fill<<<1, N>>>(data);
        if (i == 7) NEED(!cudaMemcpy(data, other, sizeof other, cudaMemcpyHostToDevice));
        add<<<1, N>>>(data, sum);
        if (i == 8) NEED(!cudaMemcpy(sum, other, sizeof other, cudaMemcpyHostToDevice));
        twice<<<1, N>>>(sum);
        if (i == 9) add<<<1, N>>>(sum, data);
        if (i < 7) continue;
        const int want = i == 7 ? 12 : i == 8 ? 12 : 2;
        NEED(!cudaMemcpy(got, sum, sizeof got, cudaMemcpyDeviceToHost) && got[1] == want);
    }
    NEED(!cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost) && got[1] == 3);
    NEED(!cudaFree(data) && !cudaFree(sum));
}

static void measures() { // without leaving out, this takes minutes
    int *data, got;
    const int large = 1 << 20;
    NEED(!cudaMalloc(&data, large * sizeof(int)));
    for (int i = 0; i < 1000; i++) {
        NEED(!cudaMemset(data, 1, large * sizeof(int)));
        twice<<<large / N, N>>>(data);
        twice<<<large / N, N>>>(data);
    }
    NEED(!cudaMemcpy(&got, data + large - 1, sizeof got, cudaMemcpyDeviceToHost) && got == 0x04040404);
    NEED(!cudaFree(data));
}

int main() {
    looks_in_between();
    writes_in_between();
    measures();
    return cudaGetLastError() != cudaSuccess;
}
