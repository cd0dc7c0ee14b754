// Kernels that launch kernels. Compiled with -rdc=true. The program's argument names a case, or `all` of the
// right ones; those whose line is marked end with that finding.

#include "cases.h"

// What the host reads of the `n` integers of device memory; they are freed.
static int *read_back(int *device, int n) {
    int *host = (int *)malloc(n * sizeof(int));
    need(!cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyDeviceToHost) && !cudaFree(device));
    return host;
}
static int *zeros(int n) {
    int *device;
    need(!cudaMalloc(&device, n * sizeof(int)) && !cudaMemset(device, 0, n * sizeof(int)));
    return device;
}
// The program ends with the error, so that what it has not freed does not count.
static void ends_with(cudaError_t error) {
    need(cudaDeviceSynchronize() == error);
    exit(1);
}
static void wait() { need(!cudaGetLastError() && !cudaDeviceSynchronize()); }

// ---- Launches

__device__ int own;
__global__ void sets_own(int value) { own = value; }
__global__ void launches_setter(int value) { sets_own<<<1, 1>>>(value); }
static void child_of_its_device() { // a child uses its parent's device's variables
    int count, value;
    need(!cudaGetDeviceCount(&count));
    for (int d = 0; d < count; d++) {
        need(!cudaSetDevice(d));
        launches_setter<<<1, 1>>>(d + 5);
        wait();
    }
    for (int d = 0; d < count; d++)
        need(!cudaSetDevice(d) && !cudaMemcpyFromSymbol(&value, own, sizeof value) && value == d + 5);
    need(!cudaSetDevice(0));
}

__global__ void add_to(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] += value; }
__global__ void each_thread_launches(int *x) { add_to<<<2, 4>>>(x + 8 * threadIdx.x, threadIdx.x); }
static void children() {
    int *x = zeros(8 * 64);
    each_thread_launches<<<1, 64>>>(x);
    wait();
    int *got = read_back(x, 8 * 64);
    for (int i = 0; i < 8 * 64; i++) need(got[i] == i / 8);
    free(got);
}

// A grid ends when all that it has launched has ended: the second child sees what the first one's child did.
__global__ void times(int *x, int factor) { *x *= factor; }
__global__ void plus_then_times(int *x) {
    *x += 1;
    times<<<1, 1>>>(x, 10);
}
__global__ void in_order(int *x) {
    plus_then_times<<<1, 1>>>(x);
    plus_then_times<<<1, 1>>>(x);
    times<<<1, 1>>>(x, 2);
}
static void grandchildren_first() {
    int *x = zeros(1);
    in_order<<<1, 1>>>(x);
    add_to<<<1, 1>>>(x, 5); // and the host's next launch sees all of it
    wait();
    int *got = read_back(x, 1);
    need(*got == 225);
    free(got);
}

__global__ void tail_first(int *x) {
    times<<<1, 1, 0, cudaStreamTailLaunch>>>(x, 10);
    add_to<<<1, 1, 0, cudaStreamFireAndForget>>>(x, 3);
}
static void tail() {
    int *x = zeros(1);
    tail_first<<<1, 1>>>(x);
    wait();
    int *got = read_back(x, 1);
    need(*got == 30);
    free(got);
}

__global__ void with_shared(int *x) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void launches_shared(int *x) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    with_shared<<<1, 128, 128 * sizeof(int), stream>>>(x);
    cudaStreamDestroy(stream);
}
static void stream_and_shared_memory() {
    int *x = zeros(128);
    launches_shared<<<1, 1>>>(x);
    wait();
    int *got = read_back(x, 128);
    for (int i = 0; i < 128; i++) need(got[i] == 127 - i);
    free(got);
}

struct Wide {
    char letter;
    double value;
    int3 sides;
};
__device__ int variable;
__global__ void takes_nothing() { atomicAdd(&variable, 1); }
__global__ void takes_structure(short a, Wide w, int *x) { *x = a + w.letter + (int)w.value + w.sides.z; }
__global__ void launches_with_parameters(int *x) {
    takes_nothing<<<3, 1>>>();
    takes_structure<<<1, 1>>>(1, Wide{2, 4.0, {0, 0, 8}}, x);
}
static void parameters() {
    int *x = zeros(1), seen;
    launches_with_parameters<<<1, 1>>>(x);
    wait();
    int *got = read_back(x, 1);
    need(*got == 15 && !cudaMemcpyFromSymbol(&seen, variable, sizeof seen) && seen == 3);
    free(got);
}

// ---- Copies and memory

__global__ void copies(int *x) {
    add_to<<<1, 4>>>(x, 7);
    cudaMemcpyAsync(x + 4, x, 4 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    add_to<<<1, 4>>>(x, 1);
}
static void copy_between_children() {
    int *x = zeros(8);
    copies<<<1, 1>>>(x);
    wait();
    int *got = read_back(x, 8);
    for (int i = 0; i < 8; i++) need(got[i] == (i < 4 ? 8 : 7));
    free(got);
}

__global__ void sum_and_free(int *from, int n, int *x) {
    for (int i = 0; i < n; i++) *x += from[i];
    cudaFree(from);
}
__global__ void fill(int *to) { to[threadIdx.x] = threadIdx.x; }
__global__ void allocates(int *x) {
    int *own;
    if (cudaMalloc((void **)&own, 100 * sizeof(int)) != cudaSuccess) return;
    fill<<<1, 100>>>(own);
    sum_and_free<<<1, 1>>>(own, 100, x);
}
static void device_allocates() {
    int *x = zeros(1);
    allocates<<<1, 1>>>(x);
    wait();
    int *got = read_back(x, 1);
    need(*got == 4950);
    free(got);
}

// ---- What is refused

__global__ void deeper(int *x) {
    *x += 1;
    deeper<<<1, 1>>>(x);
    if (cudaPeekAtLastError() != cudaSuccess) x[1] = cudaGetLastError();
    if (cudaGetLastError() != cudaSuccess) x[1] = -1;
}
static void ends_at_some_depth() {
    int *x = zeros(2);
    deeper<<<1, 1>>>(x);
    wait();
    int *got = read_back(x, 2);
    need(got[0] == 2049 && got[1] == cudaErrorLaunchPendingCountExceeded);
    free(got);
}

__global__ void too_large(int *x) {
    add_to<<<1, 2048>>>(x, 1);
    *x = cudaGetLastError();
}
static void block_too_large() {
    int *x = zeros(1);
    too_large<<<1, 1>>>(x); // FINDING block_too_large: BAD_LAUNCH
    wait();
    int *got = read_back(x, 1);
    need(*got == cudaErrorInvalidConfiguration);
    free(got);
}

__global__ void past_the_end(int *x) { x[threadIdx.x] = 1; } // FINDING child_past_the_end: OOB
__global__ void launches_past_the_end(int *x) { past_the_end<<<1, 32>>>(x); }
static void child_past_the_end() {
    int *x = zeros(31);
    launches_past_the_end<<<1, 1>>>(x);
    ends_with(cudaErrorIllegalAddress);
}

__global__ void child_race(int *x) { *x = threadIdx.x; } // FINDING race_in_grandchild: RACE
__global__ void launches_race(int *x) { child_race<<<1, 64>>>(x); }
__global__ void launches_launch(int *x) { launches_race<<<1, 1>>>(x); }
static void race_in_grandchild() {
    int *x = zeros(1);
    launches_launch<<<1, 1>>>(x);
    wait();
    free(read_back(x, 1));
}

__global__ void frees_twice() {
    int *own;
    cudaMalloc((void **)&own, 16);
    cudaFree(own);
    cudaFree(own); // FINDING freed_twice: FAULT
}
static void freed_twice() {
    frees_twice<<<1, 1>>>();
    ends_with(cudaErrorLaunchFailure);
}

__global__ void copies_too_much(int *x) { cudaMemcpyAsync(x, x + 4, 32, cudaMemcpyDeviceToDevice, 0); }
static void copy_past_the_end() {
    int *x = zeros(8);
    copies_too_much<<<1, 1>>>(x); // FINDING copy_past_the_end: COPY_SIZE
    ends_with(cudaErrorIllegalAddress);
}

static const Case cases[] = {CASE(children),
                             CASE(child_of_its_device),
                             CASE(grandchildren_first),
                             CASE(tail),
                             CASE(stream_and_shared_memory),
                             CASE(parameters),
                             CASE(copy_between_children),
                             CASE(device_allocates),
                             CASE(ends_at_some_depth)},
                  wrong[] = {CASE(block_too_large), CASE(child_past_the_end), CASE(race_in_grandchild),
                             CASE(freed_twice), CASE(copy_past_the_end)};

int main(int count, char **words) {
    if (count < 2) return 2;
    (void)run_cases(cases, true, words[1]);
    return run_cases(wrong, false, words[1]);
}
