// One mistake for each case, which the program's argument names. A line that must be reported says so:
// "// FINDING case: VERDICT".
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void twice(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2; // FINDING host_pointer: OOB // FINDING elements: OOB // FINDING use_after_free: OOB // FINDING uninitialised: UNINIT // FINDING short_copy: UNINIT
}
__global__ void fill(int *data) { data[threadIdx.x] = 1; } // FINDING past_end: OOB
__global__ void neighbour(int *data) {
    __shared__ int shared[64];
    shared[threadIdx.x] = threadIdx.x; // FINDING race: RACE
    data[threadIdx.x] = shared[63 - threadIdx.x]; // FINDING race: RACE // FINDING race: UNINIT
}
__global__ void misaligned(char *data) { *(int *)(data + 1) = 1; } // FINDING misaligned: MISALIGNED
__global__ void uses_shared(int *data) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = 1;
    data[threadIdx.x] = shared[threadIdx.x];
}

const int N = 256;
const size_t BYTES = N * sizeof(int);
static int host[N];

static int *device(size_t bytes = BYTES) {
    int *data;
    cudaMalloc(&data, bytes); // FINDING leak: LEAK
    return data;
}

static void host_reads() {
    int *data = device();
    cudaMemset(data, 0, BYTES);
    host[0] = data[3]; // FINDING host_reads: HOST_ACCESS
}
static void host_writes() {
    int *data = device();
    memset(data, 0, BYTES); // FINDING host_writes: HOST_ACCESS
}
static void host_touches_many() {
    int *data[200];
    for (int i = 0; i < 200; i++) data[i] = device();
    data[150][1] = 3; // FINDING host_touches_many: HOST_ACCESS
}
static void host_pointer() {
    int *data = (int *)malloc(BYTES);
    twice<<<1, N>>>(data, N);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
}
static void elements() {
    int *data = device(N);
    cudaMemset(data, 0, N);
    twice<<<1, N>>>(data, N);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
}
static void past_end() {
    int *data = device();
    fill<<<1, N + 1>>>(data);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
}
static void race() {
    int *data = device();
    neighbour<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
static void misaligned_store() {
    int *data = device();
    misaligned<<<1, 1>>>((char *)data);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
}
static void uninitialised() {
    int *data = device();
    twice<<<1, N>>>(data, N);
    cudaDeviceSynchronize();
    cudaFree(data);
}
static void short_copy() {
    int *data = device();
    cudaMemcpy(data, host, N, cudaMemcpyHostToDevice);
    twice<<<1, N>>>(data, N);
    cudaDeviceSynchronize();
    cudaFree(data);
}
static void wrong_direction() {
    int *data = device();
    cudaMemcpy(data, host, BYTES, cudaMemcpyDeviceToHost); // FINDING wrong_direction: COPY_DIRECTION
    cudaFree(data);
    if (cudaGetLastError() != cudaErrorInvalidValue) exit(1);
}
static void backwards() {
    int *data = device();
    cudaMemset(data, 0, BYTES);
    cudaMemcpy(data, host, BYTES, cudaMemcpyHostToHost); // FINDING backwards: COPY_DIRECTION
    cudaFree(data);
    cudaGetLastError();
}
static void too_long() {
    int *data = device();
    cudaMemcpy(data, host, BYTES * 4, cudaMemcpyHostToDevice); // FINDING too_long: COPY_SIZE
    cudaFree(data);
    cudaGetLastError();
}
static void set_too_long() {
    int *data = device();
    cudaMemset(data, 0, BYTES + 1); // FINDING set_too_long: COPY_SIZE
    cudaFree(data);
    cudaGetLastError();
}
static void set_host() {
    cudaMemset(host, 0, BYTES); // FINDING set_host: HOST_POINTER
    cudaGetLastError();
}
static void double_free() {
    int *data = device();
    cudaFree(data);
    cudaFree(data); // FINDING double_free: BAD_FREE
    cudaGetLastError();
}
static void frees_malloc() {
    void *data = malloc(BYTES);
    cudaFree(data); // FINDING frees_malloc: BAD_FREE
    cudaGetLastError();
    free(data);
}
static void frees_middle() {
    int *data = device();
    cudaFree(data + 1); // FINDING frees_middle: BAD_FREE
    cudaGetLastError();
    cudaFree(data);
}
static void frees_pinned() {
    int *data;
    cudaMallocHost(&data, BYTES);
    cudaFree(data); // FINDING frees_pinned: BAD_FREE
    cudaGetLastError();
    cudaFreeHost(data);
}
static void leak() { device(); }
static void leak_pinned() {
    int *data;
    cudaHostAlloc(&data, BYTES, cudaHostAllocDefault); // FINDING leak_pinned: LEAK
}
static void unchecked() {
    void *data;
    cudaMalloc(&data, (size_t)1 << 50); // FINDING unchecked: UNCHECKED
}
static void unchecked_launch() {
    int *data = device();
    fill<<<1, 2048>>>(data); // FINDING unchecked_launch: BAD_LAUNCH // FINDING unchecked_launch: UNCHECKED
    cudaFree(data);
}
static void no_blocks() {
    int *data = device();
    fill<<<0, 64>>>(data); // FINDING no_blocks: BAD_LAUNCH
    cudaGetLastError();
    cudaFree(data);
}
static void much_shared() {
    int *data = device();
    uses_shared<<<1, 64, 100000>>>(data); // FINDING much_shared: BAD_LAUNCH
    cudaGetLastError();
    cudaFree(data);
}
static void use_after_free() {
    int *data = device();
    cudaFree(data);
    twice<<<1, N>>>(data, N);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
}
static void copy_after_free() {
    int *data = device();
    cudaFree(data);
    cudaMemcpy(host, data, BYTES, cudaMemcpyDeviceToHost); // FINDING copy_after_free: USE_AFTER_FREE
    cudaGetLastError();
}
static void reads_too_early() {
    int *data = device(), *pinned;
    cudaMallocHost(&pinned, BYTES);
    cudaMemset(data, 0, BYTES);
    cudaMemcpyAsync(pinned, data, BYTES, cudaMemcpyDeviceToHost);
    printf("%d\n", pinned[0]); // FINDING reads_too_early: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFreeHost(pinned);
}
static void writes_too_early() {
    int *data = device(), *pinned;
    cudaMallocHost(&pinned, BYTES);
    cudaMemcpyAsync(data, pinned, BYTES, cudaMemcpyHostToDevice);
    pinned[0] = 1; // FINDING writes_too_early: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFreeHost(pinned);
}
static void managed_too_early() {
    int *data;
    cudaMallocManaged(&data, BYTES);
    fill<<<1, N>>>(data);
    printf("%d\n", data[0]); // FINDING managed_too_early: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFree(data);
}
static void wrong_stream() {
    int *data;
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaMallocManaged(&data, BYTES);
    fill<<<1, N, 0, one>>>(data);
    cudaStreamSynchronize(two);
    printf("%d\n", data[0]); // FINDING wrong_stream: READ_TOO_EARLY
    cudaFree(data);
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)();
} cases[] = {CASE(host_reads),   CASE(host_writes),      CASE(host_touches_many), CASE(host_pointer),
             CASE(elements),     CASE(past_end),         CASE(race),              {"misaligned", misaligned_store},
             CASE(uninitialised), CASE(short_copy),      CASE(wrong_direction),   CASE(backwards),
             CASE(too_long),     CASE(set_too_long),     CASE(set_host),          CASE(double_free),
             CASE(frees_malloc), CASE(frees_middle),     CASE(frees_pinned),      CASE(leak),
             CASE(leak_pinned),  CASE(unchecked),        CASE(unchecked_launch),  CASE(no_blocks),
             CASE(much_shared),  CASE(use_after_free),   CASE(copy_after_free),   CASE(reads_too_early),
             CASE(writes_too_early), CASE(managed_too_early), CASE(wrong_stream)};

int main(int count, char **words) {
    for (const auto &c : cases)
        if (count > 1 && !strcmp(c.name, words[1])) {
            c.run();
            return 0;
        }
    for (const auto &c : cases) puts(c.name);
    return 2;
}
