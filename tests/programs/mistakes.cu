// One mistake for each case, which the program's argument names. A line that must be reported says so:
// "// FINDING case: VERDICT".
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void twice(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2; // FINDING host_pointer: OOB // FINDING elements: OOB // FINDING use_after_free: OOB // FINDING uninitialised: UNINIT // FINDING short_copy: UNINIT // FINDING pointer_size: UNINIT // FINDING stack_pointer: OOB // FINDING freed_too_early: OOB
}
__global__ void fill(int *data) { data[threadIdx.x] = 1; } // FINDING past_end: OOB
__global__ void neighbour(int *data) {
    __shared__ int shared[64];
    shared[threadIdx.x] = threadIdx.x; // FINDING race: RACE
    data[threadIdx.x] = shared[63 - threadIdx.x]; // FINDING race: RACE // FINDING race: UNINIT
}
__global__ void misaligned(char *data) { *(int *)(data + 1) = 1; } // FINDING misaligned: MISALIGNED
__device__ int table[4];
__global__ void reads_table(int *out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void __launch_bounds__(64) bounded(int *data) { data[threadIdx.x] = 1; }
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

// ---- More of the same kinds

static void vector_of_device() {
    int *data = device();
    cudaMemset(data, 0, BYTES);
    int sum = 0;
    for (int i = 0; i < N; i++) sum += data[i]; // FINDING vector_of_device: HOST_ACCESS
    printf("%d\n", sum);
}
static void frees_with_free() {
    int *data = device();
    free(data); // FINDING frees_with_free: HOST_ACCESS
}
static void stack_pointer() {
    int value = 1;
    twice<<<1, 1>>>(&value, 1);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
}
static void pointer_size() {
    int *data = device();
    cudaMemcpy(data, host, sizeof data, cudaMemcpyHostToDevice);
    twice<<<1, N>>>(data, N);
    cudaDeviceSynchronize();
    cudaFree(data);
}
static void rows_too_long() {
    int *data = device();
    cudaMemcpy2D(data, 64, host, 64, 64, N, cudaMemcpyHostToDevice); // FINDING rows_too_long: COPY_SIZE
    cudaFree(data);
    cudaGetLastError();
}
static void symbol_too_long() {
    cudaMemcpyToSymbol(table, host, 8 * sizeof(int)); // FINDING symbol_too_long: COPY_SIZE
    cudaGetLastError();
}
static void symbol_offset() {
    cudaMemcpyFromSymbol(host, table, sizeof table, 4); // FINDING symbol_offset: COPY_SIZE
    cudaGetLastError();
}
static void symbol_direction() {
    cudaMemcpyToSymbol(table, host, sizeof table, 0, cudaMemcpyDeviceToHost); // FINDING symbol_direction: COPY_DIRECTION
    cudaGetLastError();
}
static void swapped() {
    int *data = device();
    cudaMemcpy(host, data, BYTES, cudaMemcpyHostToDevice); // FINDING swapped: COPY_DIRECTION
    cudaFree(data);
    cudaGetLastError();
}
static void device_to_device() {
    int *data = device();
    cudaMemcpy(host, data, BYTES, cudaMemcpyDeviceToDevice); // FINDING device_to_device: COPY_DIRECTION
    cudaFree(data);
    cudaGetLastError();
}
static void frees_variable() {
    void *address;
    cudaGetSymbolAddress(&address, table);
    cudaFree(address); // FINDING frees_variable: BAD_FREE
    cudaGetLastError();
}
static void managed_as_host() {
    int *data;
    cudaMallocManaged(&data, BYTES);
    cudaFreeHost(data); // FINDING managed_as_host: BAD_FREE
    cudaGetLastError();
    cudaFree(data);
}
static void frees_twice_async() {
    int *data = device();
    cudaFree(data);
    cudaFreeAsync(data, 0); // FINDING frees_twice_async: BAD_FREE
    cudaGetLastError();
}
static void leak_managed() {
    int *data;
    cudaMallocManaged(&data, BYTES); // FINDING leak_managed: LEAK
}
static void leak_in_loop() {
    int *data;
    for (int i = 0; i < 3; i++) cudaMalloc(&data, BYTES); // FINDING leak_in_loop: LEAK
    cudaFree(data);
}
static void leak_array() {
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 16, 16); // FINDING leak_array: LEAK
}
static void pinned_after_free() {
    int *pinned;
    cudaMallocHost(&pinned, BYTES);
    cudaFreeHost(pinned);
    pinned[0] = 1; // FINDING pinned_after_free: USE_AFTER_FREE
}
static void managed_after_free() {
    int *data;
    cudaMallocManaged(&data, BYTES);
    fill<<<1, N>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
    printf("%d\n", data[0]); // FINDING managed_after_free: USE_AFTER_FREE
}
static void set_after_free() {
    int *data = device();
    cudaFree(data);
    cudaMemset(data, 0, BYTES); // FINDING set_after_free: USE_AFTER_FREE
    cudaGetLastError();
}
static void bounds() {
    int *data = device();
    bounded<<<1, 128>>>(data); // FINDING bounds: BAD_LAUNCH
    cudaGetLastError();
    cudaFree(data);
}
static void swapped_shape() {
    int *data = device();
    fill<<<dim3(1, 1, 1), dim3(1, 1, 65)>>>(data); // FINDING swapped_shape: BAD_LAUNCH
    cudaGetLastError();
    cudaFree(data);
}
static void too_cooperative() {
    int *data = device();
    void *arguments[] = {&data};
    cudaLaunchCooperativeKernel(fill, dim3(1 << 20), dim3(64), arguments, 0, 0); // FINDING too_cooperative: BAD_LAUNCH
    cudaGetLastError();
    cudaFree(data);
}
static void unchecked_copy() {
    int *data = device();
    cudaMemcpy(data, nullptr, BYTES, cudaMemcpyHostToDevice); // FINDING unchecked_copy: UNCHECKED
    cudaFree(data);
}
static void time_too_early() {
    float milliseconds = 0;
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    cudaEventRecord(stop);
    cudaEventElapsedTime(&milliseconds, start, stop); // FINDING time_too_early: READ_TOO_EARLY
    cudaDeviceSynchronize();
}
static void destroyed_stream() {
    int *data = device();
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamDestroy(stream);
    cudaMemsetAsync(data, 0, BYTES, stream); // FINDING destroyed_stream: BAD_CALL
    cudaFree(data);
    cudaGetLastError();
}
static void destroyed_event() {
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventDestroy(event);
    cudaEventRecord(event); // FINDING destroyed_event: BAD_CALL
    cudaGetLastError();
}

// ---- What nothing orders

struct Streams {
    cudaStream_t one, two;
    Streams() { cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking); }
    ~Streams() { cudaStreamDestroy(one), cudaStreamDestroy(two); }
};
static int *pinned(size_t bytes = BYTES) {
    int *data;
    cudaMallocHost(&data, bytes);
    memset(data, 0, bytes);
    return data;
}

static void copy_and_kernel() {
    Streams s;
    int *data = device(), *from = pinned();
    cudaMemcpyAsync(data, from, BYTES, cudaMemcpyHostToDevice, s.one);
    twice<<<1, N, 0, s.two>>>(data, N); // FINDING copy_and_kernel: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data), cudaFreeHost(from);
}
static void kernel_and_copy() {
    Streams s;
    int *data = device(), *to = pinned();
    fill<<<1, N, 0, s.one>>>(data);
    cudaMemcpyAsync(to, data, BYTES, cudaMemcpyDeviceToHost, s.two); // FINDING kernel_and_copy: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data), cudaFreeHost(to);
}
static void default_stream_too() { // a stream that does not wait for the default stream
    Streams s;
    int *data = device();
    fill<<<1, N, 0, s.one>>>(data);
    cudaMemcpy(host, data, BYTES, cudaMemcpyDeviceToHost); // FINDING default_stream_too: UNORDERED
    cudaFree(data);
}
static void two_kernels() {
    Streams s;
    int *data = device();
    fill<<<1, N, 0, s.one>>>(data);
    fill<<<1, N / 2, 0, s.two>>>(data + N / 4); // FINDING two_kernels: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data);
}
static void fill_and_kernel() {
    Streams s;
    int *data = device();
    cudaMemset(data, 0, BYTES);
    cudaDeviceSynchronize();
    twice<<<1, N, 0, s.one>>>(data, N);
    cudaMemsetAsync(data, 0, BYTES, s.two); // FINDING fill_and_kernel: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data);
}
static void recorded_too_soon() { // before the work
    Streams s;
    int *data = device();
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, s.one);
    fill<<<1, N, 0, s.one>>>(data);
    cudaStreamWaitEvent(s.two, done);
    twice<<<1, N, 0, s.two>>>(data, N); // FINDING recorded_too_soon: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data), cudaEventDestroy(done);
}
static void never_recorded() {
    Streams s;
    int *data = device();
    cudaEvent_t done;
    cudaEventCreate(&done);
    fill<<<1, N, 0, s.one>>>(data);
    cudaStreamWaitEvent(s.two, done);
    twice<<<1, N, 0, s.two>>>(data, N); // FINDING never_recorded: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data), cudaEventDestroy(done);
}
static void wrong_event() {
    Streams s;
    int *a = device(), *b = device();
    cudaEvent_t done_a, done_b;
    cudaEventCreate(&done_a), cudaEventCreate(&done_b);
    cudaStream_t third;
    cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
    fill<<<1, N, 0, s.one>>>(a);
    cudaEventRecord(done_a, s.one);
    fill<<<1, N, 0, s.two>>>(b);
    cudaEventRecord(done_b, s.two);
    cudaStreamWaitEvent(third, done_a);
    twice<<<1, N, 0, third>>>(b, N); // FINDING wrong_event: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(a), cudaFree(b);
}
static void waits_in_wrong_stream() {
    Streams s;
    int *data = device(), *to = pinned();
    fill<<<1, N, 0, s.one>>>(data);
    cudaStreamSynchronize(s.two);
    cudaMemcpyAsync(to, data, BYTES, cudaMemcpyDeviceToHost, s.two); // FINDING waits_in_wrong_stream: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data), cudaFreeHost(to);
}
static void double_buffer() { // the second turn overwrites what the first still copies
    Streams s;
    int *data = device(2 * BYTES), *to = pinned(2 * BYTES);
    for (int turn = 0; turn < 3; turn++) {
        int *part = data + turn % 2 * N;
        fill<<<1, N, 0, s.one>>>(part); // FINDING double_buffer: UNORDERED
        cudaEvent_t done;
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
        cudaEventRecord(done, s.one);
        cudaStreamWaitEvent(s.two, done);
        cudaMemcpyAsync(to, part, BYTES, cudaMemcpyDeviceToHost, s.two);
    }
    cudaDeviceSynchronize();
    cudaFree(data), cudaFreeHost(to);
}
static void staging() { // one buffer of the host for two copies
    Streams s;
    int *data = device(2 * BYTES), *from = pinned();
    for (int part = 0; part < 2; part++) {
        memset(from, part, BYTES); // FINDING staging: READ_TOO_EARLY
        cudaMemcpyAsync(data + part * N, from, BYTES, cudaMemcpyHostToDevice, s.one);
    }
    cudaDeviceSynchronize();
    cudaFree(data), cudaFreeHost(from);
}
static void symbol_in_stream() {
    Streams s;
    int *data = device(), *from = pinned();
    cudaMemcpyToSymbolAsync(table, from, sizeof table, 0, cudaMemcpyHostToDevice, s.one);
    reads_table<<<1, 4, 0, s.two>>>(data); // FINDING symbol_in_stream: UNORDERED
    cudaDeviceSynchronize();
    cudaFree(data), cudaFreeHost(from);
}
static void frees_in_other_stream() {
    Streams s;
    int *data;
    cudaMallocAsync(&data, BYTES, s.one);
    fill<<<1, N, 0, s.one>>>(data);
    cudaFreeAsync(data, s.two); // FINDING frees_in_other_stream: UNORDERED
    cudaStreamSynchronize(s.one);
    cudaStreamSynchronize(s.two);
}
static void allocates_in_other_stream() {
    Streams s;
    int *data;
    cudaMallocAsync(&data, BYTES, s.one);
    fill<<<1, N, 0, s.two>>>(data); // FINDING allocates_in_other_stream: UNORDERED
    cudaStreamSynchronize(s.two);
    cudaFreeAsync(data, s.one);
    cudaStreamSynchronize(s.one);
}
static void freed_too_early() { // in stream order
    int *data;
    cudaMallocAsync(&data, BYTES, 0);
    cudaFreeAsync(data, 0);
    twice<<<1, N>>>(data, N);
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
}
static void mapped_too_early() {
    int *data = pinned();
    fill<<<1, N>>>(data);
    printf("%d\n", data[5]); // FINDING mapped_too_early: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFreeHost(data);
}
static void writes_managed() { // what a kernel still reads
    int *data, *out = device();
    cudaMallocManaged(&data, BYTES);
    memset(data, 0, BYTES);
    cudaMemcpyAsync(out, data, BYTES, cudaMemcpyDefault);
    data[3] = 1; // FINDING writes_managed: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFree(data), cudaFree(out);
}
static void waits_for_wrong_event() {
    int *data;
    cudaEvent_t before;
    cudaEventCreate(&before);
    cudaMallocManaged(&data, BYTES);
    cudaEventRecord(before);
    fill<<<1, N>>>(data);
    cudaEventSynchronize(before);
    printf("%d\n", data[0]); // FINDING waits_for_wrong_event: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFree(data), cudaEventDestroy(before);
}
static int *for_callback;
static void callback_too_early() {
    Streams s;
    cudaMallocManaged(&for_callback, BYTES);
    fill<<<1, N, 0, s.one>>>(for_callback);
    cudaLaunchHostFunc(s.two, [](void *) { printf("%d\n", for_callback[0]); }, nullptr); // FINDING callback_too_early: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFree(for_callback);
}
static void graph_too_early() {
    Streams s;
    int *data;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaMallocManaged(&data, BYTES);
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
    fill<<<1, N, 0, s.one>>>(data);
    cudaStreamEndCapture(s.one, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, s.one);
    printf("%d\n", data[0]); // FINDING graph_too_early: READ_TOO_EARLY
    cudaDeviceSynchronize();
    cudaFree(data), cudaGraphExecDestroy(made), cudaGraphDestroy(graph);
}
static void captured_branches() { // neither branch waits for the other
    Streams s;
    int *data = device();
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaEvent_t fork, join;
    cudaEventCreate(&fork), cudaEventCreate(&join);
    cudaMemset(data, 0, BYTES);
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, s.one);
    cudaStreamWaitEvent(s.two, fork);
    twice<<<1, N, 0, s.one>>>(data, N);
    twice<<<1, N, 0, s.two>>>(data, N); // FINDING captured_branches: UNORDERED
    cudaEventRecord(join, s.two);
    cudaStreamWaitEvent(s.one, join);
    cudaStreamEndCapture(s.one, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, s.one);
    cudaDeviceSynchronize();
    cudaFree(data), cudaGraphExecDestroy(made), cudaGraphDestroy(graph);
}
static void nodes_without_edge() {
    int *data = device();
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaGraphNode_t zero, copy;
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams set = {data, 0, 0, 4, N, 1};
    cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &set);
    cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, host, data, BYTES, cudaMemcpyDeviceToHost); // FINDING nodes_without_edge: UNORDERED
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, 0);
    cudaDeviceSynchronize();
    cudaFree(data), cudaGraphExecDestroy(made), cudaGraphDestroy(graph);
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)();
} cases[] = {CASE(host_reads), CASE(host_writes), CASE(host_touches_many), CASE(host_pointer), CASE(elements),
             CASE(past_end), CASE(race), {"misaligned", misaligned_store}, CASE(uninitialised), CASE(short_copy),
             CASE(wrong_direction), CASE(backwards), CASE(too_long), CASE(set_too_long), CASE(set_host),
             CASE(double_free), CASE(frees_malloc), CASE(frees_middle), CASE(frees_pinned), CASE(leak),
             CASE(leak_pinned), CASE(unchecked), CASE(unchecked_launch), CASE(no_blocks), CASE(much_shared),
             CASE(use_after_free), CASE(copy_after_free), CASE(reads_too_early), CASE(writes_too_early),
             CASE(managed_too_early), CASE(wrong_stream), CASE(vector_of_device), CASE(frees_with_free),
             CASE(stack_pointer), CASE(pointer_size), CASE(rows_too_long), CASE(symbol_too_long), CASE(symbol_offset),
             CASE(symbol_direction), CASE(swapped), CASE(device_to_device), CASE(frees_variable),
             CASE(managed_as_host), CASE(frees_twice_async), CASE(leak_managed), CASE(leak_in_loop), CASE(leak_array),
             CASE(pinned_after_free), CASE(managed_after_free), CASE(set_after_free), CASE(bounds),
             CASE(swapped_shape), CASE(too_cooperative), CASE(unchecked_copy), CASE(time_too_early),
             CASE(destroyed_stream), CASE(destroyed_event), CASE(copy_and_kernel), CASE(kernel_and_copy),
             CASE(default_stream_too), CASE(two_kernels), CASE(fill_and_kernel), CASE(recorded_too_soon),
             CASE(never_recorded), CASE(wrong_event), CASE(waits_in_wrong_stream), CASE(double_buffer), CASE(staging),
             CASE(symbol_in_stream), CASE(frees_in_other_stream), CASE(allocates_in_other_stream),
             CASE(freed_too_early), CASE(mapped_too_early), CASE(writes_managed), CASE(waits_for_wrong_event),
             CASE(callback_too_early), CASE(graph_too_early), CASE(captured_branches), CASE(nodes_without_edge)};

int main(int count, char **words) {
    for (const auto &c : cases)
        if (count > 1 && !strcmp(c.name, words[1])) {
            c.run();
            return 0;
        }
    for (const auto &c : cases) puts(c.name);
    return 2;
}
