// Single figures of a device, each read off its clock by one thread, warp or block: cycles for each of a
// chain of operations. out[0]: cycles for all of them.

#define MEASURE(name, steps, before, step, keep)                                                             \
    extern "C" __global__ void name(long long *out, const unsigned *next, unsigned start) {                  \
        before;                                                                                              \
        long long begin = clock64();                                                                         \
        _Pragma("unroll 16") for (int k = 0; k < (steps); k++) { step; }                                     \
        long long end = clock64();                                                                           \
        if (threadIdx.x == 0) out[0] = end - begin;                                                          \
        if (keep) out[1] = 1;                                                                                \
    }

MEASURE(cycles_fma, 1024, float x = start, x = fmaf(x, x, x), x == 12.5f)
MEASURE(cycles_add, 1024, int x = start, x = x * (int)start + (int)start, x == 12345)
MEASURE(cycles_root, 1024, float x = start, asm volatile("sqrt.approx.f32 %0, %0;" : "+f"(x)), x == 12.5f)
MEASURE(cycles_shuffle, 1024, int x = start, x = __shfl_sync(0xffffffff, x, x), x == 12345)
MEASURE(cycles_barrier, 1024, , __syncthreads(), false)
MEASURE(cycles_atomic, 64, unsigned *to = (unsigned *)next;
        unsigned x = start, x = atomicAdd(to + (x & 1), x), x == 12345)

// A chain through shared memory.
extern "C" __global__ void cycles_shared(long long *out, const unsigned *next, unsigned start) {
    __shared__ volatile unsigned ring[32];
    ring[threadIdx.x] = (threadIdx.x + 1) % 32;
    __syncthreads();
    unsigned at = start;
    long long begin = clock64();
#pragma unroll 16
    for (int k = 0; k < 1024; k++) at = ring[at];
    long long end = clock64();
    if (threadIdx.x == 0) out[0] = end - begin;
    if (at == 12345) out[1] = 1;
}
// A chain through `next`, a cycle over a working set of the caller's choice.
extern "C" __global__ void cycles_memory(long long *out, const unsigned *next, unsigned start) {
    unsigned at = start;
    long long begin = clock64();
#pragma unroll 1
    for (int k = 0; k < 1024; k++) at = __ldcg(next + at);
    long long end = clock64();
    out[0] = end - begin;
    if (at == 0xffffffff) out[1] = 1;
}
extern "C" __global__ void cycles_l1(long long *out, const unsigned *next, unsigned start) {
    unsigned at = start;
#pragma unroll 1
    for (int k = 0; k < 1024; k++) at = __ldca(next + at);
    long long begin = clock64();
#pragma unroll 1
    for (int k = 0; k < 1024; k++) at = __ldca(next + at);
    long long end = clock64();
    out[0] = end - begin;
    if (at == 0xffffffff) out[1] = 1;
}
// Cycles and nanoseconds side by side: the clock that the SMs run at. Spins for a millisecond.
extern "C" __global__ void clock_rate(long long *out, const unsigned *, unsigned) {
    long long begin = clock64(), began, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - began < 1000000);
    out[0] = clock64() - begin;
    out[1] = now - began;
}

// Many warps add to one line or, in turns, to two: `to` and the one `apart` lines on. Lanes whose numbers
// agree in the bits of `mask` add to one word.
#define ATOMICS(name, type)                                                                                  \
    extern "C" __global__ void name(type *to, unsigned apart, unsigned mask, unsigned rounds) {              \
        unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;                                        \
        for (unsigned k = 0; k < rounds; k++)                                                                \
            atomicAdd(to + (warp + k) % 2 * apart * 32 + (threadIdx.x & mask), (type)1);                     \
    }
ATOMICS(atomics_u32, unsigned)
ATOMICS(atomics_f32, float)
