// Kernels that wait for the host, for a copy or for each other while they run. The program's argument names a case,
// or `all` of the right ones; those whose line is marked end with that finding.
#include <cooperative_groups.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cases.h"

static volatile int *flags(bool is_managed = false) {
    volatile int *made;
    need(is_managed ? !cudaMallocManaged((void **)&made, 8) : !cudaMallocHost((void **)&made, 8));
    made[0] = made[1] = 0;
    return made;
}

__global__ void answers(volatile int *go, volatile int *done, int rounds) {
    for (int i = 1; i <= rounds; i++) {
        while (*go < i) {} // FINDING never_stored: TIMEOUT
        *done = 2 * i;
        __threadfence_system();
    }
}
static void talk(volatile int *f) {
    answers<<<1, 1>>>(f, f + 1, 20);
    for (int i = 1; i <= 20; i++) {
        f[0] = i;
        while (f[1] != 2 * i) {}
    }
    need(!cudaDeviceSynchronize());
}
static void pinned_flags() {
    volatile int *f = flags();
    talk(f);
    need(!cudaFreeHost((void *)f));
}
static void managed_flags() {
    volatile int *f = flags(true);
    talk(f);
    need(!cudaFree((void *)f));
}
static void again() { // a new kernel waits each time
    volatile int *f = flags();
    for (int i = 1; i < 4; i++) {
        f[0] = f[1] = 0;
        answers<<<1, 1>>>(f, f + 1, 1);
        f[0] = 1;
        while (!f[1]) {}
        need(f[1] == 2 && !cudaDeviceSynchronize());
    }
    need(!cudaFreeHost((void *)f));
}
static void other_thread() { // stores while this one waits for the kernel
    volatile int *f = flags();
    answers<<<1, 1>>>(f, f + 1, 1);
    std::thread later([f] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        f[0] = 1;
    });
    need(!cudaDeviceSynchronize() && f[1] == 2 && !cudaFreeHost((void *)f));
    later.join();
}

// No two polls of these are alike.
__global__ void counts(volatile int *stop, volatile int *count) {
    int n = 0;
    while (!*stop) n++;
    *count = n;
}
__global__ void beats(volatile int *stop, volatile int *count) {
    while (!*stop) *count += 1;
}
static void counts_polls() {
    volatile int *f = flags();
    counts<<<1, 1>>>(f, f + 1);
    f[0] = 1;
    need(!cudaDeviceSynchronize() && !cudaFreeHost((void *)f));
}
static void heartbeat() {
    volatile int *f = flags();
    beats<<<1, 1>>>(f, f + 1);
    while (f[1] < 3) {}
    f[0] = 1;
    need(!cudaDeviceSynchronize() && !cudaFreeHost((void *)f));
}

// Racecheck's memory of the array is large, and the host's allocations need room beside it.
__global__ void fills(volatile int *go, int *data, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = i;
    while (!*go) {}
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] += 1;
}
static void allocates_meanwhile() {
    enum { N = 1 << 18 };
    volatile int *f = flags();
    int *data, *more[300], last;
    need(!cudaMalloc(&data, N * sizeof *data));
    fills<<<1, 256>>>(f, data, N);
    for (int **one = more; one < more + 300; one++) need(!cudaMalloc(one, 16));
    f[0] = 1;
    need(!cudaMemcpy(&last, data + 5, sizeof last, cudaMemcpyDeviceToHost) && last == 6);
    for (int **one = more; one < more + 300; one++) need(!cudaFree(*one));
    need(!cudaFree(data) && !cudaFreeHost((void *)f));
}

struct Streams {
    cudaStream_t one, two;
    Streams() {
        need(!cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
        need(!cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    }
    ~Streams() { need(!cudaStreamDestroy(one) && !cudaStreamDestroy(two)); }
};
static int *zeros() {
    int *data;
    need(!cudaMalloc(&data, 8) && !cudaMemset(data, 0, 8) && !cudaDeviceSynchronize());
    return data;
}
static void stopped_by_copy(void (*kernel)(volatile int *, volatile int *)) {
    Streams s;
    int *data = zeros(), *one;
    need(!cudaMallocHost(&one, 4));
    *one = 1;
    kernel<<<1, 1, 0, s.one>>>(data, data + 1);
    need(!cudaMemcpyAsync(data, one, 4, cudaMemcpyHostToDevice, s.two));
    need(!cudaStreamSynchronize(s.one) && !cudaStreamSynchronize(s.two));
    need(!cudaFree(data) && !cudaFreeHost(one));
}
static void copied_flag() { stopped_by_copy(counts), stopped_by_copy(beats); }

__global__ void meets(volatile int *mine, volatile int *other, int rounds) {
    for (int i = 1; i <= rounds; i++) {
        *mine = i;
        __threadfence();
        while (*other < i) {} // FINDING one_round_less: TIMEOUT
        __threadfence();
    }
}
static void two_kernels() {
    Streams s;
    int *data = zeros();
    meets<<<1, 1, 0, s.one>>>(data, data + 1, 50);
    meets<<<1, 1, 0, s.two>>>(data + 1, data, 50);
    need(!cudaDeviceSynchronize() && !cudaFree(data));
}

// Two grids of many blocks, each with barriers, which meet again and again, as those of two devices do.
__global__ void grid_meets(volatile int *mine, volatile int *other, int rounds) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int i = 1; i <= rounds; i++) {
        grid.sync();
        if (!grid.thread_rank()) {
            *mine = i;
            __threadfence();
            while (*other < i) {} // FINDING grid_waits_for_ever: TIMEOUT
            __threadfence();
        }
        grid.sync();
    }
}
static void start_grid(cudaStream_t stream, int *mine, int *other, int rounds) {
    void *arguments[] = {&mine, &other, &rounds};
    need(!cudaLaunchCooperativeKernel((void *)grid_meets, 100, 64, arguments, 0, stream));
}
static cudaError_t grids_meet(const Streams &s, int rounds, int other_rounds) {
    int *data = zeros();
    start_grid(s.one, data, data + 1, rounds);
    start_grid(s.two, data + 1, data, other_rounds);
    const cudaError_t error = cudaDeviceSynchronize();
    if (!error) need(!cudaFree(data));
    return error;
}
static void two_grids() {
    Streams s;
    need(!grids_meet(s, 10, 10));
}

__global__ void serves(int *data, volatile int *job, volatile int *done, int n) {
    __shared__ int mine;
    for (;;) {
        if (!threadIdx.x) {
            while (!(mine = *job)) {}
            __threadfence_system();
        }
        __syncthreads();
        if (mine < 0) return;
        for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] += mine;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x) continue;
        *job = 0;
        __threadfence_system();
        *done = mine;
    }
}
static void persistent() { // a kernel that stays, and is given work
    const int n = 3000;
    int *data;
    volatile int *f = flags();
    need(!cudaMallocHost(&data, n * sizeof *data));
    memset(data, 0, n * sizeof *data);
    serves<<<1, 64>>>(data, f, f + 1, n);
    for (int job = 1, sum = 1; job < 5; sum += ++job) {
        f[0] = job;
        while (f[1] != job) {}
        std::atomic_thread_fence(std::memory_order_seq_cst);
        for (int i = 0; i < n; i++) need(data[i] == sum);
    }
    f[0] = -1;
    need(!cudaDeviceSynchronize() && !cudaFreeHost(data) && !cudaFreeHost((void *)f));
}

// ---- Wrong ones -----------------------------------------------------------------------------------------------------

static void never_stored() {
    volatile int *f = flags();
    answers<<<1, 1>>>(f, f + 1, 1);
    need(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    exit(1);
}
static void one_round_less() {
    Streams s;
    int *data = zeros();
    meets<<<1, 1, 0, s.one>>>(data, data + 1, 50);
    meets<<<1, 1, 0, s.two>>>(data + 1, data, 49);
    need(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    exit(1);
}
static void grid_waits_for_ever() {
    Streams s;
    need(grids_meet(s, 3, 2) == cudaErrorLaunchTimeout);
    exit(1);
}
__global__ void no_fence(int *data, volatile int *done, volatile int *stop) {
    data[0] = 7;
    *done = 1;
    while (!*stop) {}
}
static void unfenced_data() { // nothing orders the data before the flag
    int *data;
    volatile int *f = flags();
    need(!cudaMallocHost(&data, 4));
    no_fence<<<1, 1>>>(data, f, f + 1);
    while (!f[0]) {}
    need(data[0] == 7); // FINDING unfenced_data: READ_TOO_EARLY
    f[1] = 1;
    need(!cudaDeviceSynchronize() && !cudaFreeHost(data) && !cudaFreeHost((void *)f));
}

static const Case cases[] = {CASE(pinned_flags), CASE(managed_flags), CASE(again), CASE(other_thread),
                             CASE(counts_polls), CASE(heartbeat), CASE(copied_flag), CASE(two_kernels),
                             CASE(two_grids), CASE(persistent), CASE(allocates_meanwhile)},
                  wrong[] = {CASE(never_stored), CASE(one_round_less), CASE(grid_waits_for_ever),
                             CASE(unfenced_data)};

int main(int count, char **words) {
    if (count < 2) return 2;
    (void)run_cases(cases, true, words[1]);
    return run_cases(wrong, false, words[1]);
}
