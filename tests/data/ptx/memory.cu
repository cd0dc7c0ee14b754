// Memory of every kind. tests/test_memory.py says what each kernel must find there.
#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <stdio.h>

#define KERNEL(name) extern "C" __global__ void name(const int *__restrict__ in, int *__restrict__ out)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define T ((int)threadIdx.x)

// ---- Module variables ----
__device__ int counter = 41;
__device__ float table[5] = {1.5f, -2.0f, 0.25f};
__device__ int *pointer_to_counter = &counter;
__device__ float *pointers[3] = {table, table + 2, &table[4]};
__constant__ short constants[6] = {1, -2, 3, -4, 5, -6};
__device__ const char *words[] = {"zero", "one", "two"};
struct Mixed { char c; double d; int *p; short s[3]; };
__device__ Mixed mixed = {'x', 2.5, &counter, {7, 8, 9}};
__device__ __noinline__ int add_one(int x) { return x + 1; }
__device__ __noinline__ int negate(int x) { return -x; }
__device__ int (*functions[2])(int) = {add_one, negate};

KERNEL(module_variables) {
    int x = in[I];
    out[8 * I] = *pointer_to_counter;
    out[8 * I + 1] = (int)(pointers[x % 3][0] * 100);
    out[8 * I + 2] = constants[x % 6];
    out[8 * I + 3] = words[x % 3][1];
    out[8 * I + 4] = mixed.c + (int)(mixed.d * 10) + *mixed.p + mixed.s[x % 3];
    out[8 * I + 5] = functions[x & 1](x);
    pointers[x % 3] = table + 1;
}
extern "C" __global__ void add_to_counter(int by) { atomicAdd(&counter, by); }

// ---- Atomics ----
#define ATOMIC(name, type, call)                                                            \
    extern "C" __global__ void name(type *at, const type *values, type *old, int shared) {  \
        __shared__ type cells[4];                                                           \
        if (T < 4) cells[T] = at[T];                                                        \
        __syncthreads();                                                                    \
        type *p = (shared ? cells : at) + T % 4;                                            \
        type v = values[T];                                                                 \
        old[T] = call;                                                                      \
        __syncthreads();                                                                    \
        if (shared && T < 4) at[T] = cells[T];                                              \
    }
typedef unsigned long long u64;
typedef long long s64;
ATOMIC(add_i32, int, atomicAdd(p, v))
ATOMIC(add_u32, unsigned, atomicAdd(p, v))
ATOMIC(add_u64, u64, atomicAdd(p, v))
ATOMIC(add_f32, float, atomicAdd(p, v))
ATOMIC(add_f64, double, atomicAdd(p, v))
ATOMIC(min_i32, int, atomicMin(p, v))
ATOMIC(max_i32, int, atomicMax(p, v))
ATOMIC(min_u32, unsigned, atomicMin(p, v))
ATOMIC(max_u32, unsigned, atomicMax(p, v))
ATOMIC(min_i64, s64, atomicMin(p, v))
ATOMIC(max_i64, s64, atomicMax(p, v))
ATOMIC(min_u64, u64, atomicMin(p, v))
ATOMIC(max_u64, u64, atomicMax(p, v))
ATOMIC(and_u32, unsigned, atomicAnd(p, v))
ATOMIC(or_u32, unsigned, atomicOr(p, v))
ATOMIC(xor_u32, unsigned, atomicXor(p, v))
ATOMIC(and_u64, u64, atomicAnd(p, v))
ATOMIC(or_u64, u64, atomicOr(p, v))
ATOMIC(xor_u64, u64, atomicXor(p, v))
ATOMIC(exch_u32, unsigned, atomicExch(p, v))
ATOMIC(exch_u64, u64, atomicExch(p, v))
ATOMIC(exch_f32, float, atomicExch(p, v))
ATOMIC(inc_u32, unsigned, atomicInc(p, v))
ATOMIC(dec_u32, unsigned, atomicDec(p, v))
ATOMIC(cas_u32, unsigned, atomicCAS(p, v, v + 1))
ATOMIC(cas_u64, u64, atomicCAS(p, v, v + 1))
ATOMIC(cas_u16, unsigned short, atomicCAS(p, v, (unsigned short)(v + 1)))
ATOMIC(add_f16, __half, atomicAdd(p, v))
ATOMIC(add_bf16, __nv_bfloat16, atomicAdd(p, v))
ATOMIC(add_f16x2, __half2, atomicAdd(p, v))
ATOMIC(add_bf16x2, __nv_bfloat162, atomicAdd(p, v))
// A sum by compare and swap, as one writes it for types that have no atomic.
__device__ double sum_by_cas(double *p, double v) {
    u64 *bits = (u64 *)p, old = *bits, assumed;
    do { assumed = old; old = atomicCAS(bits, assumed, (u64)__double_as_longlong(v + __longlong_as_double((s64)assumed))); } while (assumed != old);
    return __longlong_as_double((s64)old);
}
ATOMIC(cas_loop_f64, double, sum_by_cas(p, v))

// ---- Asynchronous copies ----
__device__ __forceinline__ void pipelined(const int *in, int *out, bool waits, int keep) {
    __shared__ __align__(16) int tile[2][4 * 64];
    __pipeline_memcpy_async(&tile[0][4 * T], in + 4 * T, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][T], in + 256 + T, 4);
    __pipeline_commit();
    if (waits) { if (keep) __pipeline_wait_prior(1); else __pipeline_wait_prior(0); }
    __syncthreads();
    int r = tile[0][(4 * T + 5) % 256];
    out[I] = keep ? r : r + tile[1][63 - T];
}
KERNEL(async_copy_second_too_early) {
    __shared__ int tile[2][64];
    for (int k = 0; k < 2; k++) {
        __pipeline_memcpy_async(&tile[k][T], in + 64 * k + T, 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[I] = tile[0][63 - T] + tile[1][63 - T];
}
KERNEL(async_copy) { pipelined(in, out, true, 0); }
KERNEL(async_copy_first_only) { pipelined(in, out, true, 1); }
KERNEL(async_copy_without_wait) { pipelined(in, out, false, 0); }
extern "C" __global__ void async_copy_tail(const int *in, int *out, int n) { // four at a time, zeros behind the end
    __shared__ __align__(16) int tile[4 * 64];
    int left = n - 4 * T;
    __pipeline_memcpy_async(&tile[4 * T], in + 4 * T, 16, left >= 4 ? 0 : left <= 0 ? 16 : 16 - 4 * left);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < 4; k++) out[k * 64 + T] = tile[k * 64 + T];
}
KERNEL(async_left_behind) { // each block but the first leaves a copy in flight; the next must not see it land
    __shared__ int tile[64];
    tile[T] = -1;
    __syncthreads();
    if (blockIdx.x == 1) asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[I] = tile[T];
    if (blockIdx.x != 1) __pipeline_memcpy_async(&tile[T], in + T, 4);
}

// ---- Shared and local memory ----
KERNEL(shared_neighbour) {
    __shared__ int first[32], second[32];
    first[T] = in[T];
    second[T] = in[T];
    __syncthreads();
    out[T] = first[T + in[32]] + second[31 - T];
}
extern "C" __global__ void dynamic_shared(int *out, int at) {
    extern __shared__ int room[];
    __shared__ int fixed[8];
    if (T < 8) fixed[T] = T;
    room[T] = T;
    __syncthreads();
    out[T] = room[at] + fixed[T % 8];
}
KERNEL(local_overrun) {
    int a[8];
    for (int k = 0; k < 8; k++) a[k] = in[k];
    out[T] = a[in[8 + T]];
}
KERNEL(uninitialised_shared) {
    __shared__ int s[64];
    if (T != 7 + (int)blockIdx.x) s[T] = in[T];
    __syncthreads();
    out[T] = s[63 - T];
}
__device__ __noinline__ int inner(int x) {
    __shared__ int kept[100];
    kept[T] = x;
    __syncthreads();
    return kept[31 - T];
}
__device__ __noinline__ int outer(int x) { return inner(x + 1) * 2; }
KERNEL(shared_in_function) { out[T] = outer(in[T]); }
KERNEL(uninitialised_local) {
    int a[16];
    for (int k = 0; k < in[0]; k++) a[(k * 3) & 15] = k;
    out[T] = a[in[1 + T] & 15];
}
KERNEL(exchange_starts) { // an exchange whose old value is not used is a store
    __shared__ int flag;
    if (T == 0) atomicExch(&flag, 5);
    __syncthreads();
    out[T] = flag;
}

// ---- Output, assertions, clocks ----
extern "C" __global__ void prints(int n) {
    if (T >= n) return;
    printf("%d %5d|%-5d|%05d %+d %u %x %X %o %c%%\n", T, -7, 42, 42, 3, 4000000000u, 255, 0xbeef, 8, 'A' + T);
    printf("%lld %llu %ld %hd %zu\n", -(1ll << 40), ~0ull, 5l, (short)-3, sizeof(int));
    printf("%f %.2f %10.3e %g %a %s|%8s|%-4s|%.2s\n", 1.5, 2.345, 12345.678, 0.0001, 1.0, "text", "right", "l", "cut");
    printf("%*d|%-*d|%.*f\n", 6, 17, 4, 18, 2, 3.14159);
    printf("plain\n");
}
extern "C" __global__ void prints_for_ever() { for (;;) printf("again and again\n"); }
extern "C" __global__ void asserts(int limit) { assert(T < limit && "small enough"); }
extern "C" __global__ void traps(int lane) { if (T == lane) __trap(); }
extern "C" __global__ void breaks(int lane) { if (T == lane) asm volatile("brkpt;"); }
extern "C" __global__ void clocks(u64 *out) {
    u64 *mine = out + 4 * I;
    long long first = clock64();
    unsigned before = (unsigned)clock();
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    __nanosleep(100);
    unsigned after = (unsigned)clock();
    mine[0] = (u64)(clock64() - first);
    mine[1] = after - before;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(mine[2]));
    mine[2] -= time;
    mine[3] = (u64)first;
}
extern "C" __global__ void special(unsigned *out) {
    unsigned *mine = out + 16 * I;
#define SPECIAL(k, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(mine[k]))
    SPECIAL(0, "laneid"); SPECIAL(1, "warpid"); SPECIAL(2, "nsmid"); SPECIAL(3, "lanemask_eq"); SPECIAL(4, "lanemask_lt");
    SPECIAL(5, "lanemask_le"); SPECIAL(6, "lanemask_ge"); SPECIAL(7, "lanemask_gt"); SPECIAL(8, "ntid.x"); SPECIAL(9, "nctaid.x");
    SPECIAL(10, "ctaid.x"); SPECIAL(11, "tid.x"); SPECIAL(12, "smid"); SPECIAL(13, "nwarpid");
    mine[14] = (unsigned)warpSize; mine[15] = 0;
}
struct Arguments { char c; short s; int i; double d; float f[3]; };
extern "C" __global__ void parameters(char c, Arguments a, short s, double d, const Arguments *same, int k, double *out) {
    out[0] = c; out[1] = a.c; out[2] = a.s; out[3] = a.i; out[4] = a.d; out[5] = a.f[k]; out[6] = s; out[7] = d;
    out[8] = same->f[k] + same->d;
}

// ---- Values that nothing has set. `in` has 32 integers, and behind them 32 that nothing has written ----
#define STEPS(name) extern "C" __global__ void name(const int *in, int *out, int n)
STEPS(unset_sum) {
    int sum;
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[T] = sum;
}
STEPS(unset_in_some_lanes) {
    int v;
    if (T < n) v = in[T];
    v += __shfl_xor_sync(~0u, v, 16);
    if (T % 16 < 4) out[T] = v;
}
STEPS(unset_address) {
    int k;
    for (int i = 0; i < n; i++)
        k ^= in[i];
    out[T] = in[k & 31];
}
STEPS(unset_atomic) {
    int sum;
    for (int k = 0; k < n; k++)
        sum += in[k];
    atomicAdd(out, sum);
}
STEPS(unset_condition) {
    int left;
    for (int k = 0; k < n; k++)
        left -= in[k];
    while (left > 40 && left < 50)
        left += atomicAdd(out, 1);
}
STEPS(unset_printed) {
    int sum;
    for (int k = 0; k < n; k++)
        sum += in[k];
    printf("%d %d\n", n, sum); // n is set
}
__device__ __noinline__ int twice(int x, int n) { return n > 100 ? x : 2 * x; }
STEPS(unset_through_a_call) {
    int v;
    for (int k = 0; k < n; k++)
        v += in[k];
    v = twice(v, n);
    out[T] = v;
}
STEPS(unset_but_not_used) { // where it is not set, nothing depends on it
    int v;
    if (T < n) v = in[T];
    int w = __shfl_down_sync(~0u, v, 1);
    if (T < n - 1) out[T] = v + w;
}
STEPS(reads_ahead) { // the element behind the tile is read and dropped
    int next = in[T], sum = 0;
    for (int k = 0; k < n; k++) {
        int now = next;
        next = in[T + 32 * (k + 1) - 32 * (n > 1)];
        sum += now;
    }
    out[T] = sum;
}
STEPS(reads_ahead_into_shared) { // and the tile of the next round is stored, and never read
    __shared__ int tile[2][32];
    tile[0][T] = in[T];
    for (int k = 0; k < n; k++) {
        tile[(k + 1) % 2][T] = in[T + 32 * (k + 1)];
        out[T] = tile[k % 2][T];
    }
}
STEPS(reads_ahead_asynchronously) { // the same, by cp.async
    __shared__ int tile[2][32];
    __pipeline_memcpy_async(&tile[0][T], in + T, 4);
    __pipeline_commit();
    for (int k = 0; k < n; k++) {
        __pipeline_memcpy_async(&tile[(k + 1) % 2][T], in + T + 32 * (k + 1), 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        out[T] = tile[k % 2][T];
    }
}
STEPS(selects_what_is_set) { // a pair of halves, of which one is used; a value chosen by a condition
    long long pair = *(const long long *)(in + 30 + (T == 31 ? 2 : 0));
    int low = (int)pair, high = (int)(pair >> 32);
    out[T] = T == 31 ? n : low + high;
}
STEPS(strays_of_a_tile) { // lanes of a mask of 8 read others, and drop what they get
    if (T < 8) {
        int v = in[T], w = __shfl_down_sync(0xffu, v, n);
        out[T] = T + n < 8 ? v + w : v;
    }
}
STEPS(unset_through_shared) { // an undefined value waits in shared memory
    __shared__ int tile[32];
    int v;
    if (T < n) v = in[T];
    tile[T] = v;
    __syncthreads();
    out[T] = tile[31 - T];
}
STEPS(unset_through_another_warp) { // one warp reads what nothing has set, and another stores what comes of it
    __shared__ int tile[64];
    if (T < 32) tile[T] = tile[T + n] + 1;
    __syncthreads();
    if (T >= 32) out[T] = tile[63 - T];
}
STEPS(copies_read_too_soon) { // the second copy into one place: what the first brought is gone
    __shared__ int tile[32];
    for (int k = 0; k < n; k++) {
        __pipeline_memcpy_async(&tile[T], in + T, 4);
        __pipeline_commit();
        if (k == 0) __pipeline_wait_prior(0);
        out[T] = tile[T];
    }
    __pipeline_wait_prior(0);
}
