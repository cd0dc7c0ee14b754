// Programs that resemble the mistakes of mistakes.cu and are right: no case, which the program's argument names,
// has a finding, nor have all of them.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "cases.h"

__global__ void twice(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2;
}
__global__ void fill(int *data) { data[threadIdx.x] = 1; }
__global__ void neighbour(int *data) {
    __shared__ int shared[64];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    data[threadIdx.x] = shared[63 - threadIdx.x];
}
__global__ void uses_shared(int *data) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = 1;
    data[threadIdx.x] = shared[threadIdx.x];
}
__device__ int counter;
__constant__ int table[4];
__managed__ int total;
__global__ void counts() { atomicAdd(&counter, table[threadIdx.x]), atomicAdd(&total, 1); }

const int N = 256;
const size_t BYTES = N * sizeof(int);
static int host[N];

static void managed_after_wait() {
    int *data;
    need(!cudaMallocManaged(&data, BYTES));
    for (int i = 0; i < N; i++) data[i] = i;
    twice<<<1, N>>>(data, N);
    need(!cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) need(data[i] == 2 * i);
    need(!cudaFree(data));
}
static void pinned_after_wait() {
    int *data, *pinned;
    cudaStream_t stream;
    need(!cudaStreamCreate(&stream) && !cudaMalloc(&data, BYTES) && !cudaMallocHost(&pinned, BYTES));
    for (int i = 0; i < N; i++) pinned[i] = i;
    need(!cudaMemcpyAsync(data, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    twice<<<1, N, 0, stream>>>(data, N);
    need(!cudaMemcpyAsync(pinned, data, BYTES, cudaMemcpyDeviceToHost, stream));
    need(!cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++) need(pinned[i] == 2 * i);
    need(!cudaFree(data) && !cudaFreeHost(pinned) && !cudaStreamDestroy(stream));
}
static void pageable_reused() { // such a source may change as soon as the call returns
    int *data;
    need(!cudaMalloc(&data, BYTES));
    for (int i = 0; i < N; i++) host[i] = i;
    need(!cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice));
    memset(host, 0, BYTES);
    need(!cudaMemcpy(host, data, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) need(host[i] == i);
    need(!cudaFree(data));
}
static void other_half() { // the host uses one half while the other is copied
    int *data, *pinned;
    const int n = 4096;
    need(!cudaMalloc(&data, n * sizeof(int)) && !cudaMallocHost(&pinned, 2 * n * sizeof(int)));
    need(!cudaMemcpyAsync(data, pinned, n * sizeof(int), cudaMemcpyHostToDevice));
    for (int i = n; i < 2 * n; i++) pinned[i] = i;
    need(!cudaDeviceSynchronize());
    need(!cudaFree(data) && !cudaFreeHost(pinned));
}
static void reads_what_is_copied() { // two readers
    int *data, *pinned;
    need(!cudaMalloc(&data, BYTES) && !cudaMallocHost(&pinned, BYTES));
    pinned[0] = 7;
    need(!cudaMemcpyAsync(data, pinned, BYTES, cudaMemcpyHostToDevice));
    need(pinned[0] == 7);
    need(!cudaDeviceSynchronize());
    need(!cudaFree(data) && !cudaFreeHost(pinned));
}
static void mapped() {
    int *pinned, *data;
    need(!cudaHostAlloc(&pinned, BYTES, cudaHostAllocMapped) && !cudaHostGetDevicePointer(&data, pinned, 0));
    fill<<<1, N>>>(data);
    need(!cudaDeviceSynchronize());
    need(pinned[N - 1] == 1 && !cudaFreeHost(pinned));
}
static void registered() {
    int *memory = (int *)malloc(BYTES), *data;
    need(!cudaHostRegister(memory, BYTES, cudaHostRegisterMapped) && !cudaHostGetDevicePointer(&data, memory, 0));
    fill<<<1, N>>>(data);
    need(!cudaDeviceSynchronize());
    need(memory[N - 1] == 1 && !cudaHostUnregister(memory));
    free(memory);
}
static void event_wait() {
    int *data;
    cudaStream_t one, two;
    cudaEvent_t done;
    need(!cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking) && !cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    need(!cudaEventCreate(&done) && !cudaMallocManaged(&data, BYTES));
    fill<<<1, N, 0, one>>>(data);
    need(!cudaEventRecord(done, one) && !cudaStreamWaitEvent(two, done));
    twice<<<1, N, 0, two>>>(data, N);
    need(!cudaStreamSynchronize(two));
    need(data[0] == 2 && !cudaFree(data) && !cudaEventDestroy(done));
    need(!cudaStreamDestroy(one) && !cudaStreamDestroy(two));
}
static void event_times() {
    int *data;
    float milliseconds;
    cudaEvent_t start, stop;
    need(!cudaMalloc(&data, BYTES) && !cudaEventCreate(&start) && !cudaEventCreate(&stop));
    need(!cudaEventRecord(start));
    fill<<<1, N>>>(data);
    need(!cudaEventRecord(stop) && !cudaEventSynchronize(stop));
    need(!cudaEventElapsedTime(&milliseconds, start, stop) && milliseconds > 0);
    need(!cudaFree(data) && !cudaEventDestroy(start) && !cudaEventDestroy(stop));
}
static void polls() {
    int *data;
    cudaEvent_t done;
    need(!cudaMalloc(&data, BYTES) && !cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    fill<<<1, N>>>(data);
    need(!cudaEventRecord(done));
    while (cudaEventQuery(done) == cudaErrorNotReady) {}
    while (cudaStreamQuery(0) == cudaErrorNotReady) {}
    need(!cudaFree(data) && !cudaEventDestroy(done));
}
static void legacy_order() { // the default stream waits for the others, and they for it
    int *data;
    cudaStream_t stream;
    need(!cudaStreamCreate(&stream) && !cudaMalloc(&data, BYTES));
    need(!cudaMemsetAsync(data, 0, BYTES));
    fill<<<1, N, 0, stream>>>(data);
    twice<<<1, N>>>(data, N);
    need(!cudaMemcpy(host, data, BYTES, cudaMemcpyDeviceToHost) && host[0] == 2);
    need(!cudaFree(data) && !cudaStreamDestroy(stream));
}
static void symbols() {
    const int values[4] = {1, 2, 3, 4}, zero = 0;
    int result;
    total = 5;
    need(!cudaMemcpyToSymbol(table, values, sizeof values) && !cudaMemcpyToSymbol(counter, &zero, sizeof zero));
    counts<<<1, 4>>>();
    need(!cudaMemcpyFromSymbol(&result, counter, sizeof result));
    need(result == 10 && total == 9);
}
static void races_not() {
    int *data;
    need(!cudaMalloc(&data, BYTES));
    neighbour<<<1, 64>>>(data);
    need(!cudaDeviceSynchronize() && !cudaFree(data));
}
static void much_shared() {
    int *data;
    need(!cudaMalloc(&data, BYTES));
    need(!cudaFuncSetAttribute(uses_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    uses_shared<<<1, 64, 100000>>>(data);
    need(!cudaGetLastError() && !cudaFree(data));
}
static void checks_error() {
    void *data;
    const cudaError_t error = cudaMalloc(&data, (size_t)1 << 50);
    need(error == cudaErrorMemoryAllocation && !strcmp(cudaGetErrorName(error), "cudaErrorMemoryAllocation"));
    need(cudaGetLastError() == error && cudaGetLastError() == cudaSuccess);
}
static void frees_null() { need(!cudaFree(nullptr) && !cudaFreeHost(nullptr)); }
static void frees_again() { // the same address, or another: freed once each time
    int *data;
    for (int i = 0; i < 3; i++) need(!cudaMalloc(&data, BYTES) && !cudaFree(data));
}
static void reset_frees() {
    int *data;
    need(!cudaMalloc(&data, BYTES) && !cudaDeviceReset());
}
static void rows() {
    char *data, from[3][10], to[3][10];
    size_t pitch;
    memset(from, 'x', sizeof from);
    need(!cudaMallocPitch(&data, &pitch, 10, 3));
    need(!cudaMemcpy2D(data, pitch, from, 10, 10, 3, cudaMemcpyHostToDevice));
    need(!cudaMemcpy2D(to, 10, data, pitch, 10, 3, cudaMemcpyDeviceToHost) && !memcmp(from, to, sizeof to));
    need(!cudaFree(data));
}
static void default_direction() {
    int *data;
    need(!cudaMalloc(&data, BYTES) && !cudaMemcpy(data, host, BYTES, cudaMemcpyDefault));
    need(!cudaMemcpy(host, data, BYTES, cudaMemcpyDefault) && !cudaFree(data));
}
static void host_function() {
    static int seen;
    need(!cudaLaunchHostFunc(0, [](void *argument) { *(int *)argument = 1; }, &seen));
    need(!cudaStreamSynchronize(0) && seen == 1);
}
static void many_buffers() {
    int *data[300];
    for (auto &d : data) need(!cudaMalloc(&d, BYTES));
    for (auto &d : data) fill<<<1, N>>>(d);
    for (auto &d : data) need(!cudaFree(d));
}
__global__ void adds_up(int **all, int count, int *sum) {
    if (threadIdx.x < count) atomicAdd(sum, *all[threadIdx.x]);
}
static void many_host_buffers() { // more of them than there are TiB of addresses
    const int count = 300;
    int **all, *sum;
    need(!cudaMallocManaged(&all, count * sizeof *all) && !cudaMallocHost(&sum, BYTES));
    for (int i = 0; i < count; i++) {
        need(!(i % 2 ? cudaMallocManaged(&all[i], BYTES) : cudaMallocHost(&all[i], BYTES)));
        *all[i] = i;
    }
    for (int i = 1; i < count; i += 3) { // others take their places
        need(!(i % 2 ? cudaFree(all[i]) : cudaFreeHost(all[i])));
        need(!(i % 2 ? cudaMallocManaged(&all[i], BYTES) : cudaMallocHost(&all[i], BYTES)));
        *all[i] = i;
    }
    need(!cudaFreeHost(sum) && !cudaMallocHost(&sum, BYTES));
    *sum = 0;
    adds_up<<<1, 512>>>(all, count, sum);
    need(!cudaDeviceSynchronize() && *sum == count * (count - 1) / 2);
    for (int i = 0; i < count; i++) need(!(i % 2 ? cudaFree(all[i]) : cudaFreeHost(all[i])));
    need(!cudaFree(all) && !cudaFreeHost(sum));
}
static void asks_device() {
    cudaDeviceProp properties;
    int count, warp, blocks;
    need(!cudaGetDeviceCount(&count) && count == 1 && !cudaGetDeviceProperties(&properties, 0));
    need(properties.persistingL2CacheMaxSize <= properties.l2CacheSize);
    need(!cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0) && warp == properties.warpSize);
    need(!cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0) && blocks > 0);
    need(cudaSetDevice(1) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
}

__global__ void adds(int *data) { data[threadIdx.x] += 1; }
static void repeats() { // a launch that changes nothing may be left out, one that does may not
    int *data;
    need(!cudaMallocManaged(&data, BYTES));
    for (int i = 0; i < 10; i++) fill<<<1, N>>>(data);
    need(!cudaDeviceSynchronize() && data[5] == 1);
    data[5] = 7;
    fill<<<1, N>>>(data);
    need(!cudaDeviceSynchronize() && data[5] == 1);
    for (int i = 0; i < 10; i++) adds<<<1, N>>>(data);
    need(!cudaDeviceSynchronize() && data[5] == 11);
    for (int i = 0; i < 10; i++) fill<<<1, N>>>(data);
    need(!cudaMemset(data, 0, BYTES));
    fill<<<1, N>>>(data);
    need(!cudaDeviceSynchronize() && data[5] == 1 && !cudaFree(data));
}
__global__ void prints() { printf("thread %d\n", threadIdx.x); }
static void prints_each_time() {
    for (int i = 0; i < 3; i++) prints<<<1, 2>>>();
    need(!cudaDeviceSynchronize());
}
__global__ void samples(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *out) {
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 1.5f);
    surf2Dwrite(3.0f, surface, threadIdx.x * sizeof(float), 0);
}
static void textures() {
    float from[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}}, *out, back[2][4];
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    need(!cudaMallocArray(&array, &format, 4, 2, cudaArraySurfaceLoadStore));
    need(!cudaMemcpy2DToArray(array, 0, 0, from, 16, 16, 2, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    need(!cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    need(!cudaCreateSurfaceObject(&surface, &resource) && !cudaMallocManaged(&out, 4 * sizeof(float)));
    samples<<<1, 4>>>(texture, surface, out);
    need(!cudaDeviceSynchronize() && out[0] == 4 && out[3] == 7);
    need(!cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost) && back[0][2] == 3);
    need(!cudaDestroyTextureObject(texture) && !cudaDestroySurfaceObject(surface));
    need(!cudaFree(out) && !cudaFreeArray(array));
}
static void times_add_up() { // of more launches than are followed for the model; tests/test_programs.py reads them
    int *data;
    float one, ten;
    cudaEvent_t a, b, c;
    need(!cudaMalloc(&data, BYTES) && !cudaMemset(data, 0, BYTES));
    need(!cudaEventCreate(&a) && !cudaEventCreate(&b) && !cudaEventCreate(&c));
    need(!cudaEventRecord(a));
    adds<<<1, N>>>(data);
    need(!cudaEventRecord(b));
    for (int i = 0; i < 10; i++) adds<<<1, N>>>(data);
    need(!cudaEventRecord(c) && !cudaEventSynchronize(c));
    need(!cudaEventElapsedTime(&one, a, b) && !cudaEventElapsedTime(&ten, b, c));
    need(one > 0 && ten > 0 && !cudaFree(data));
    printf("%g ms, ten take %g ms\n", one, ten);
}
static void waits_for_callback() { // without any call of CUDA
    static volatile int seen;
    need(!cudaStreamAddCallback(0, [](cudaStream_t, cudaError_t, void *) { seen = 1; }, nullptr, 0));
    while (!seen) {}
}
__global__ void adds_for_all(int *data) { atomicAdd_system(data, 1); }
static void atomics_of_both() {
    int *data;
    need(!cudaMallocManaged(&data, BYTES));
    *data = 0;
    adds_for_all<<<1, 64>>>(data);
    __sync_fetch_and_add(data, 1);
    need(!cudaDeviceSynchronize() && *data == 65 && !cudaFree(data));
}

static void captured_graph() {
    int *data, *pinned;
    cudaStream_t stream, other;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    need(!cudaStreamCreate(&stream) && !cudaStreamCreate(&other) && !cudaMallocHost(&pinned, BYTES));
    need(!cudaEventCreate(&fork) && !cudaEventCreate(&join) && !cudaMalloc(&data, BYTES));
    need(!cudaMemset(data, 0, BYTES) && !cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    adds<<<1, N, 0, stream>>>(data);
    need(!cudaEventRecord(fork, stream) && !cudaStreamWaitEvent(other, fork));
    adds<<<1, N, 0, other>>>(data);
    need(!cudaEventRecord(join, other) && !cudaStreamWaitEvent(stream, join));
    need(!cudaMemcpyAsync(pinned, data, BYTES, cudaMemcpyDeviceToHost, stream));
    need(!cudaStreamEndCapture(stream, &graph) && !cudaGraphInstantiate(&made, graph, 0));
    for (int i = 0; i < 5; i++) need(!cudaGraphLaunch(made, stream));
    need(!cudaStreamSynchronize(stream) && pinned[7] == 10);
    need(!cudaGraphExecDestroy(made) && !cudaGraphDestroy(graph) && !cudaFree(data) && !cudaFreeHost(pinned));
}
static void graph_of_nodes() {
    int *data, n = N;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaGraphNode_t zero, twofold, copy;
    need(!cudaMalloc(&data, BYTES) && !cudaGraphCreate(&graph, 0));
    cudaMemsetParams set = {};
    set.dst = data;
    set.value = 0x01010101;
    set.elementSize = 4;
    set.width = N;
    set.height = 1;
    need(!cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &set));
    void *arguments[] = {&data, &n};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)twice;
    kernel.gridDim = 1;
    kernel.blockDim = N;
    kernel.kernelParams = arguments;
    need(!cudaGraphAddKernelNode(&twofold, graph, &zero, 1, &kernel));
    need(!cudaGraphAddMemcpyNode1D(&copy, graph, &twofold, 1, host, data, BYTES, cudaMemcpyDeviceToHost));
    need(!cudaGraphInstantiate(&made, graph, 0) && !cudaGraphLaunch(made, 0) && !cudaStreamSynchronize(0));
    need(host[3] == 0x02020202 && !cudaFree(data));
    need(!cudaGraphExecDestroy(made) && !cudaGraphDestroy(graph));
}

static void pools() {
    int *data;
    cudaMemPool_t pool;
    cudaStream_t stream;
    uint64_t keep = UINT64_MAX, kept = 0;
    need(!cudaDeviceGetDefaultMemPool(&pool, 0) && !cudaStreamCreate(&stream));
    need(!cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    need(!cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept) && kept == keep);
    need(!cudaMallocAsync(&data, BYTES, stream));
    fill<<<1, N, 0, stream>>>(data);
    need(!cudaFreeAsync(data, stream) && !cudaStreamSynchronize(stream) && !cudaStreamDestroy(stream));
}

// ---- Work in several streams, in order or apart

struct Streams {
    cudaStream_t one, two;
    cudaEvent_t done;
    Streams() {
        need(!cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking) && !cudaEventCreate(&done));
        need(!cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    }
    ~Streams() { need(!cudaStreamDestroy(one) && !cudaStreamDestroy(two) && !cudaEventDestroy(done)); }
    void two_after_one() { need(!cudaEventRecord(done, one) && !cudaStreamWaitEvent(two, done)); }
};
template <typename T> struct Buffers { // on the device, and pinned
    T *device, *pinned;
    explicit Buffers(size_t count) {
        need(!cudaMalloc(&device, count * sizeof(T)) && !cudaMallocHost(&pinned, count * sizeof(T)));
        memset(pinned, 0, count * sizeof(T));
    }
    ~Buffers() { need(!cudaFree(device) && !cudaFreeHost(pinned)); }
};
static void in_order() {
    Streams s;
    Buffers<int> b(N);
    need(!cudaMemcpyAsync(b.device, b.pinned, BYTES, cudaMemcpyHostToDevice, s.one));
    s.two_after_one();
    adds<<<1, N, 0, s.two>>>(b.device);
    need(!cudaMemcpyAsync(b.pinned, b.device, BYTES, cudaMemcpyDeviceToHost, s.two));
    need(!cudaStreamSynchronize(s.two) && b.pinned[9] == 1);
}
static void ordered_by_host() {
    Streams s;
    Buffers<int> b(N);
    fill<<<1, N, 0, s.one>>>(b.device);
    need(!cudaStreamSynchronize(s.one));
    twice<<<1, N, 0, s.two>>>(b.device, N);
    need(!cudaDeviceSynchronize());
    need(!cudaMemcpy(b.pinned, b.device, BYTES, cudaMemcpyDeviceToHost) && b.pinned[9] == 2);
}
static void ordered_over_three() { // the third stream follows the first by way of the second
    Streams s, more;
    Buffers<int> b(N);
    fill<<<1, N, 0, s.one>>>(b.device);
    s.two_after_one();
    need(!cudaEventRecord(more.done, s.two) && !cudaStreamWaitEvent(more.one, more.done));
    twice<<<1, N, 0, more.one>>>(b.device, N);
    need(!cudaStreamSynchronize(more.one));
}
static void halves() { // of one buffer: neither uses what the other writes
    Streams s;
    Buffers<int> b(2 * N);
    need(!cudaMemset(b.device, 0, 2 * BYTES) && !cudaDeviceSynchronize());
    adds<<<1, N / 2 + 3, 0, s.one>>>(b.device);
    adds<<<1, N, 0, s.two>>>(b.device + N / 2 + 3);
    need(!cudaMemcpyAsync(b.pinned, b.device, (N / 2 + 3) * sizeof(int), cudaMemcpyDeviceToHost, s.one));
    need(!cudaDeviceSynchronize() && b.pinned[0] == 1);
}
static void columns() { // of one picture
    Streams s;
    Buffers<char> b(64 * 64);
    need(!cudaMemcpy2DAsync(b.device, 64, b.pinned, 64, 32, 64, cudaMemcpyHostToDevice, s.one));
    need(!cudaMemcpy2DAsync(b.device + 32, 64, b.pinned + 32, 64, 32, 64, cudaMemcpyHostToDevice, s.two));
    need(!cudaDeviceSynchronize());
}
__global__ void copies(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }
static void both_read() {
    Streams s;
    Buffers<int> b(3 * N);
    need(!cudaMemset(b.device, 0, BYTES) && !cudaDeviceSynchronize());
    copies<<<1, N, 0, s.one>>>(b.device, b.device + N);
    copies<<<1, N, 0, s.two>>>(b.device, b.device + 2 * N);
    need(!cudaDeviceSynchronize());
}
__global__ void counts_up(int *count) { atomicAdd(count, 1); }
static void both_count() {
    Streams s;
    Buffers<int> b(1);
    need(!cudaMemset(b.device, 0, sizeof(int)) && !cudaDeviceSynchronize());
    counts_up<<<1, N, 0, s.one>>>(b.device);
    counts_up<<<1, N, 0, s.two>>>(b.device);
    need(!cudaDeviceSynchronize());
    need(!cudaMemcpy(b.pinned, b.device, sizeof(int), cudaMemcpyDeviceToHost) && b.pinned[0] == 2 * N);
}
static void double_buffer() { // each half is filled again only after it was copied
    Streams s;
    Buffers<int> b(2 * N);
    cudaEvent_t copied[2];
    for (auto &event : copied) need(!cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int turn = 0; turn < 5; turn++) {
        int *part = b.device + turn % 2 * N;
        need(!cudaStreamWaitEvent(s.one, copied[turn % 2]));
        fill<<<1, N, 0, s.one>>>(part);
        s.two_after_one();
        need(!cudaMemcpyAsync(b.pinned, part, BYTES, cudaMemcpyDeviceToHost, s.two));
        need(!cudaEventRecord(copied[turn % 2], s.two));
    }
    need(!cudaDeviceSynchronize());
    for (auto &event : copied) need(!cudaEventDestroy(event));
}
static void staging() {
    Streams s;
    Buffers<int> b(N);
    for (int part = 0; part < 3; part++) {
        memset(b.pinned, part, BYTES);
        need(!cudaMemcpyAsync(b.device, b.pinned, BYTES, cudaMemcpyHostToDevice, s.one));
        need(!cudaEventRecord(s.done, s.one) && !cudaEventSynchronize(s.done));
    }
}
static void event_polled() {
    Streams s;
    Buffers<int> b(N);
    need(!cudaMemsetAsync(b.device, 1, BYTES, s.one));
    need(!cudaMemcpyAsync(b.pinned, b.device, BYTES, cudaMemcpyDeviceToHost, s.one) && !cudaEventRecord(s.done, s.one));
    while (cudaEventQuery(s.done) == cudaErrorNotReady) {}
    need(b.pinned[0] == 0x01010101);
}
static void stream_polled() {
    Streams s;
    int *data;
    need(!cudaMallocManaged(&data, BYTES));
    fill<<<1, N, 0, s.one>>>(data);
    while (cudaStreamQuery(s.one) == cudaErrorNotReady) {}
    need(data[0] == 1 && !cudaFree(data));
}
static void callback_in_order() {
    static int *data;
    Streams s;
    need(!cudaMallocManaged(&data, BYTES));
    fill<<<1, N, 0, s.one>>>(data);
    need(!cudaLaunchHostFunc(s.one, [](void *) { need(data[0] == 1), data[0] = 5; }, nullptr));
    adds<<<1, N, 0, s.one>>>(data);
    need(!cudaStreamSynchronize(s.one) && data[0] == 6 && !cudaFree(data));
}
static void thread_of_callback() { // a thread that a callback starts reads what came before the callback
    static int *data;
    static std::atomic<int> sum{0};
    Streams s;
    need(!cudaMallocHost(&data, BYTES));
    fill<<<1, N, 0, s.one>>>(data);
    need(!cudaLaunchHostFunc(
        s.one, [](void *) { std::thread([] { sum = data[0] + data[1]; }).detach(); }, nullptr));
    while (!sum) std::this_thread::yield();
    need(sum == 2 && !cudaFreeHost(data));
}
static void managed_halves() { // in one page
    int *data;
    need(!cudaMallocManaged(&data, 2 * BYTES));
    data[N + 1] = 1;
    fill<<<1, N>>>(data);
    data[N] = data[N + 1];
    need(!cudaDeviceSynchronize() && data[N] == 1 && data[0] == 1 && !cudaFree(data));
}
static void managed_both_read() {
    int *data, *out;
    need(!cudaMallocManaged(&data, BYTES) && !cudaMalloc(&out, BYTES));
    data[0] = 4;
    copies<<<1, 1>>>(data, out);
    need(data[0] == 4 && !cudaDeviceSynchronize() && !cudaFree(data) && !cudaFree(out));
}
__global__ void publishes(int *data, volatile int *flag) {
    data[0] = 7;
    __threadfence_system();
    *flag = 1;
}
static void polled_flag() { // the kernel says when its data is there
    volatile int *pinned;
    need(!cudaMallocHost((void **)&pinned, BYTES));
    pinned[1] = 0;
    publishes<<<1, 1>>>((int *)pinned, pinned + 1);
    while (!pinned[1]) {}
    need(pinned[0] == 7 && !cudaDeviceSynchronize() && !cudaFreeHost((void *)pinned));
}
static void stream_ordered_memory() { // allocated in one stream, used and freed in the other
    Streams s;
    int *data;
    need(!cudaMallocAsync(&data, BYTES, s.one));
    s.two_after_one();
    fill<<<1, N, 0, s.two>>>(data);
    need(!cudaFreeAsync(data, s.two) && !cudaDeviceSynchronize());
}
static void symbol_in_order() {
    Streams s;
    Buffers<int> b(4);
    need(!cudaMemcpyToSymbolAsync(table, b.pinned, sizeof table, 0, cudaMemcpyHostToDevice, s.one));
    counts<<<1, 4, 0, s.one>>>();
    need(!cudaMemcpyFromSymbolAsync(b.pinned, table, sizeof table, 0, cudaMemcpyDeviceToHost, s.one));
    need(!cudaStreamSynchronize(s.one));
}

static void graph_with_memory() { // a node allocates what the next ones use, and the last one frees it
    int *kept, n = N, seen = 0;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaGraphNode_t allocate, zero, add, copy, call, release;
    need(!cudaMallocManaged(&kept, BYTES) && !cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = BYTES;
    need(!cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &memory));
    cudaMemsetParams set = {memory.dptr, 0, 0x00010002, 4, N, 1};
    need(!cudaGraphAddMemsetNode(&zero, graph, &allocate, 1, &set));
    void *arguments[] = {&memory.dptr, &n};
    cudaKernelNodeParams kernel = {(void *)twice, 1, N, 0, arguments, nullptr};
    need(!cudaGraphAddKernelNode(&add, graph, &zero, 1, &kernel));
    need(!cudaGraphAddMemcpyNode1D(&copy, graph, &add, 1, kept, memory.dptr, BYTES, cudaMemcpyDefault));
    cudaHostNodeParams host_call = {[](void *argument) { ++*(int *)argument; }, &seen};
    need(!cudaGraphAddHostNode(&call, graph, &copy, 1, &host_call));
    need(!cudaGraphAddMemFreeNode(&release, graph, &copy, 1, memory.dptr));
    size_t nodes = 0, roots = 0;
    need(!cudaGraphGetNodes(graph, nullptr, &nodes) && nodes == 6);
    need(!cudaGraphGetRootNodes(graph, nullptr, &roots) && roots == 1);
    cudaGraphNodeType type;
    need(!cudaGraphNodeGetType(zero, &type) && type == cudaGraphNodeTypeMemset);
    need(!cudaGraphInstantiate(&made, graph, 0));
    for (int i = 0; i < 3; i++) need(!cudaGraphLaunch(made, 0) && !cudaStreamSynchronize(0) && kept[7] == 0x00020004);
    need(seen == 3 && !cudaGraphNodeSetEnabled(made, add, 0) && !cudaGraphLaunch(made, 0));
    need(!cudaDeviceSynchronize() && kept[7] == 0x00010002 && seen == 4);
    set.value = 5;
    need(!cudaGraphExecMemsetNodeSetParams(made, zero, &set) && !cudaGraphLaunch(made, 0));
    need(!cudaDeviceSynchronize() && kept[7] == 5);
    need(!cudaGraphExecDestroy(made) && !cudaGraphDestroy(graph) && !cudaFree(kept));
}
static void graph_in_graph() {
    Streams s;
    int *data;
    cudaGraph_t inner, outer;
    cudaGraphExec_t made;
    cudaGraphNode_t record, child, wait;
    need(!cudaMallocManaged(&data, BYTES) && !cudaMemset(data, 0, BYTES) && !cudaDeviceSynchronize());
    need(!cudaStreamBeginCapture(s.one, cudaStreamCaptureModeThreadLocal));
    adds<<<1, N, 0, s.one>>>(data);
    need(!cudaStreamEndCapture(s.one, &inner) && !cudaGraphCreate(&outer, 0));
    need(!cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
    need(!cudaGraphAddEventRecordNode(&record, outer, &child, 1, s.done));
    need(!cudaGraphAddEmptyNode(&wait, outer, &record, 1) && !cudaGraphInstantiate(&made, outer, 0));
    cudaGraphNode_t kernel;
    size_t one = 1;
    need(!cudaGraphGetNodes(inner, &kernel, &one));
    cudaKernelNodeParams asked;
    need(!cudaGraphKernelNodeGetParams(kernel, &asked) && asked.blockDim.x == N && *(int **)asked.kernelParams[0] == data);
    need(!cudaGraphLaunch(made, s.one) && !cudaEventSynchronize(s.done) && data[3] == 1);
    cudaGraphExecUpdateResultInfo info;
    need(!cudaGraphExecUpdate(made, outer, &info) && !cudaGraphLaunch(made, s.one));
    need(!cudaStreamSynchronize(s.one) && data[3] == 2);
    // One node fewer: an H200 refuses it, and what was made runs as before.
    need(!cudaGraphDestroyNode(wait) && cudaGraphExecUpdate(made, outer, &info) == cudaErrorGraphExecUpdateFailure);
    need(info.result == cudaGraphExecUpdateErrorTopologyChanged && cudaGetLastError());
    need(!cudaGraphLaunch(made, s.one) && !cudaStreamSynchronize(s.one) && data[3] == 3);
    need(!cudaGraphExecDestroy(made) && !cudaGraphDestroy(outer) && !cudaGraphDestroy(inner) && !cudaFree(data));
}
static void graph_of_captured_memory() {
    Streams s;
    int *data, *to;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    need(!cudaMallocManaged(&to, BYTES) && !cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal));
    need(!cudaMallocAsync(&data, BYTES, s.one));
    fill<<<1, N, 0, s.one>>>(data);
    need(!cudaMemcpyAsync(to, data, BYTES, cudaMemcpyDefault, s.one) && !cudaFreeAsync(data, s.one));
    need(!cudaStreamEndCapture(s.one, &graph) && !cudaGraphInstantiate(&made, graph, 0));
    for (int i = 0; i < 2; i++) need(!cudaGraphLaunch(made, s.one) && !cudaStreamSynchronize(s.one) && to[1] == 1);
    need(!cudaGraphExecDestroy(made) && !cudaGraphDestroy(graph) && !cudaFree(to));
}
static void two_devices() { // if there are
    int count, reach, device, *data[2];
    need(!cudaGetDeviceCount(&count));
    if (count < 2) return;
    for (int d = 0; d < 2; d++) {
        need(!cudaSetDevice(d) && !cudaGetDevice(&device) && device == d && !cudaMalloc(&data[d], BYTES));
        fill<<<1, N>>>(data[d]);
        cudaPointerAttributes attributes;
        need(!cudaPointerGetAttributes(&attributes, data[d]) && attributes.device == d);
    }
    need(!cudaDeviceSynchronize() && !cudaSetDevice(0) && !cudaDeviceSynchronize());
    need(!cudaDeviceCanAccessPeer(&reach, 0, 1) && reach && !cudaDeviceEnablePeerAccess(1, 0));
    need(!cudaMemcpyPeer(data[0], 0, data[1], 1, BYTES) && !cudaFree(data[0]) && !cudaFree(data[1]));
    need(cudaSetDevice(count) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
}

__device__ int own = 7, *own_place = &own;
__constant__ int step = 1;
__managed__ int of_all;
__global__ void adds_to_own() { *own_place += step, atomicAdd(&of_all, 11); }
static void variables_of_devices() { // each device has its own, except managed ones
    int count, value, *place[2];
    need(!cudaGetDeviceCount(&count));
    if (count < 2) return;
    of_all = 100;
    for (int d = 1; d >= 0; d--) { // the second device is the first that is used
        const int added = 5 + d;
        need(!cudaSetDevice(d) && !cudaMemcpyToSymbol(step, &added, sizeof added));
        adds_to_own<<<1, 1>>>();
        need(!cudaGetSymbolAddress((void **)&place[d], own) && !cudaDeviceSynchronize());
    }
    need(place[0] != place[1] && of_all == 122);
    for (int d = 0; d < 2; d++) {
        need(!cudaSetDevice(d) && !cudaMemcpyFromSymbol(&value, own, sizeof value) && value == 12 + d);
        need(!cudaMemcpy(&value, place[1 - d], sizeof value, cudaMemcpyDeviceToHost) && value == 13 - d);
    }
    need(!cudaSetDevice(0));
}
__global__ void with_much_shared(int *data) {
    extern __shared__ int much[];
    much[threadIdx.x] = 3;
    data[threadIdx.x] = much[threadIdx.x];
}
static void attributes_of_devices() { // what one device's kernel is allowed, the other's is not
    int count, *data;
    need(!cudaGetDeviceCount(&count));
    if (count < 2) return;
    need(!cudaSetDevice(1) && !cudaMalloc(&data, BYTES));
    need(!cudaFuncSetAttribute(with_much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    with_much_shared<<<1, N, 65536>>>(data);
    need(!cudaGetLastError() && !cudaDeviceSynchronize() && !cudaFree(data));
    cudaFuncAttributes of_first, of_second;
    need(!cudaFuncGetAttributes(&of_second, with_much_shared) && of_second.maxDynamicSharedSizeBytes == 65536);
    need(!cudaSetDevice(0) && !cudaFuncGetAttributes(&of_first, with_much_shared));
    need(of_first.maxDynamicSharedSizeBytes == 49152);
}

static const Case cases[] = {CASE(managed_after_wait), CASE(pinned_after_wait), CASE(pageable_reused), CASE(other_half),
             CASE(reads_what_is_copied), CASE(mapped), CASE(registered), CASE(event_wait), CASE(event_times),
             CASE(polls), CASE(legacy_order), CASE(symbols), CASE(races_not), CASE(much_shared), CASE(checks_error),
             CASE(frees_null), CASE(frees_again), CASE(reset_frees), CASE(rows), CASE(default_direction),
             CASE(host_function), CASE(many_buffers), CASE(many_host_buffers), CASE(asks_device), CASE(repeats), CASE(prints_each_time),
             CASE(textures), CASE(times_add_up), CASE(waits_for_callback), CASE(atomics_of_both),
             CASE(captured_graph), CASE(graph_of_nodes), CASE(pools), CASE(in_order), CASE(ordered_by_host),
             CASE(ordered_over_three), CASE(halves), CASE(columns), CASE(both_read), CASE(both_count),
             CASE(double_buffer), CASE(staging), CASE(event_polled), CASE(stream_polled), CASE(callback_in_order),
             CASE(managed_halves), CASE(thread_of_callback), CASE(managed_both_read), CASE(polled_flag), CASE(stream_ordered_memory),
             CASE(symbol_in_order), CASE(graph_with_memory), CASE(graph_in_graph), CASE(graph_of_captured_memory),
             CASE(two_devices), CASE(variables_of_devices), CASE(attributes_of_devices)};

int main(int count, char **words) {
    if (count < 2) return 2;
    return run_cases(cases, true, words[1]);
}
