// Memory and events of two processes: the program starts itself again. Its argument names a case, or `all` of the
// right ones; one whose line is marked ends with that finding, in the second process.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static const int N = 64;
static const char *program;

// ---- The second process

static void *opened; // the memory of the first
static cudaEvent_t event;
__global__ void twice(int *data) { data[threadIdx.x] *= 2; }
__global__ void beyond(int *data) { data[threadIdx.x + 1] = 0; } // FINDING beyond_theirs: OOB

static void close_all() { need(!cudaIpcCloseMemHandle(opened) && !cudaEventDestroy(event)); }
static void doubles() {
    cudaStream_t stream;
    need(!cudaStreamCreate(&stream) && !cudaStreamWaitEvent(stream, event));
    twice<<<1, N, 0, stream>>>((int *)opened);
    need(!cudaEventRecord(event, stream) && !cudaStreamDestroy(stream));
    close_all();
}
static void copies() {
    int host[N], *mine;
    need(!cudaMalloc(&mine, sizeof host) && !cudaEventSynchronize(event));
    need(!cudaMemcpy(mine, opened, sizeof host, cudaMemcpyDeviceToDevice));
    twice<<<1, N>>>(mine);
    need(!cudaMemcpy(opened, mine, sizeof host, cudaMemcpyDeviceToDevice) && !cudaFree(mine));
    need(!cudaMemcpy(host, opened, sizeof host, cudaMemcpyDeviceToHost) && host[5] == 10);
    close_all();
}
static void frees_theirs() {
    (void)cudaFree(opened); // FINDING frees_theirs: BAD_FREE
    (void)cudaGetLastError();
    close_all();
}
static void beyond_theirs() {
    beyond<<<1, N>>>((int *)opened);
    need(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    exit(1);
}
static void closes_not() { need(!cudaEventDestroy(event)); }
static const Case seconds[] = {CASE(doubles), CASE(copies), CASE(frees_theirs), CASE(beyond_theirs),
                               CASE(closes_not)};

template <typename T>
static void from_text(const char *text, T *value) {
    for (size_t i = 0; i < sizeof *value; i++) {
        unsigned byte;
        need(sscanf(text + 2 * i, "%2x", &byte) == 1);
        ((unsigned char *)value)[i] = byte;
    }
}
static int second_process(char **words) {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t of_event;
    void *again;
    from_text(words[2], &memory);
    from_text(words[3], &of_event);
    running = words[1];
    need(!cudaIpcOpenMemHandle(&opened, memory, cudaIpcMemLazyEnablePeerAccess)); // FINDING closes_not: LEAK
    need(!cudaIpcOpenMemHandle(&again, memory, cudaIpcMemLazyEnablePeerAccess) && again == opened);
    need(!cudaIpcCloseMemHandle(again) && !cudaIpcOpenEventHandle(&event, of_event));
    return run_cases(seconds, false, words[1]);
}

// ---- The first process

template <typename T>
static void to_text(const T &value, char *text) {
    for (size_t i = 0; i < sizeof value; i++) sprintf(text + 2 * i, "%02x", ((const unsigned char *)&value)[i]);
}
__global__ void fill(int *data) { data[threadIdx.x] = threadIdx.x; }
static void with_second(const char *name, int factor) {
    int *data, host[N], status;
    pid_t second;
    cudaEvent_t filled;
    cudaStream_t stream;
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t of_event;
    char one[2 * sizeof memory + 1], two[2 * sizeof of_event + 1];
    need(!cudaStreamCreate(&stream) && !cudaMalloc(&data, sizeof host) && !cudaIpcGetMemHandle(&memory, data));
    need(!cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess));
    need(!cudaIpcGetEventHandle(&of_event, filled));
    fill<<<1, N, 0, stream>>>(data);
    need(!cudaEventRecord(filled, stream));
    to_text(memory, one);
    to_text(of_event, two);
    char *const words[] = {(char *)program, (char *)name, one, two, nullptr};
    need(!posix_spawn(&second, program, nullptr, nullptr, words, environ));
    need(waitpid(second, &status, 0) == second && WIFEXITED(status) && WEXITSTATUS(status) == !factor);
    need(!cudaStreamSynchronize(stream) && !cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N && factor; i++) need(host[i] == factor * i);
    need(!cudaFree(data) && !cudaEventDestroy(filled) && !cudaStreamDestroy(stream));
}
static void second_doubles() { with_second("doubles", 2); }
static void second_copies() { with_second("copies", 2); }
static void second_frees() { with_second("frees_theirs", 1); }
static void second_beyond() { with_second("beyond_theirs", 0); }
static void second_closes_not() { with_second("closes_not", 1); }
static void refuses() {
    int *data, *pinned;
    void *pointer;
    cudaEvent_t own;
    cudaIpcMemHandle_t memory = {};
    cudaIpcEventHandle_t of_event = {};
    const unsigned flags = cudaIpcMemLazyEnablePeerAccess;
    need(!cudaMalloc(&data, 64) && !cudaMallocHost(&pinned, 64) && !cudaEventCreate(&own));
    need(cudaIpcOpenMemHandle(&pointer, memory, flags) == cudaErrorInvalidValue);
    need(cudaIpcOpenEventHandle(&own, of_event) == cudaErrorInvalidValue);
    need(cudaIpcGetMemHandle(&memory, pinned) == cudaErrorInvalidValue);
    need(cudaIpcGetEventHandle(&of_event, own) == cudaErrorInvalidResourceHandle);
    need(cudaEventCreateWithFlags(&own, cudaEventInterprocess) == cudaErrorInvalidValue);
    need(!cudaIpcGetMemHandle(&memory, data));
    need(cudaIpcOpenMemHandle(&pointer, memory, flags) == cudaErrorDeviceUninitialized); // in the same process
    need(cudaIpcCloseMemHandle(data) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
    need(!cudaFree(data) && !cudaFreeHost(pinned) && !cudaEventDestroy(own));
}

static const Case cases[] = {CASE(second_doubles), CASE(second_copies), CASE(refuses)},
                  wrong[] = {CASE(second_frees), CASE(second_beyond), CASE(second_closes_not)};

int main(int count, char **words) {
    program = words[0];
    if (count == 4) return second_process(words);
    if (count < 2) return 2;
    (void)run_cases(cases, true, words[1]);
    return run_cases(wrong, false, words[1]);
}
