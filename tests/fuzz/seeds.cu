// Kernels that each use one family of PTX instructions: what tests/fuzz/make_corpus.py makes seeds of.
// They take a buffer of 4096 bytes, half of it floats of 1, and run as 3 blocks of 48 threads.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__constant__ float weights[16] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int tickets;

extern "C" __global__ void tree(float *data) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = data[blockIdx.x * 48 + t];
    if (t < 16) tile[48 + t] = 0;
    __syncthreads();
    for (int s = 32; s; s >>= 1) {
        if (t < s) tile[t] += tile[t + s];
        __syncthreads();
    }
    if (!t) data[512 + blockIdx.x] = tile[0];
}

extern "C" __global__ void shuffles(float *data) {
    float x = data[threadIdx.x];
    unsigned mask = __activemask();
    if (mask != 0xffffffff) return;
    for (int s = 16; s; s /= 2) x += __shfl_down_sync(mask, x, s);
    int up = __shfl_up_sync(mask, threadIdx.x, 1), butterfly = __shfl_xor_sync(mask, up, 3, 8);
    int ballot = __ballot_sync(mask, up & 1), all = __all_sync(mask, up), any = __any_sync(mask, butterfly);
    int same = __match_any_sync(mask, up >> 2), sum = __reduce_add_sync(mask, up), most = __reduce_max_sync(mask, up);
    data[512 + threadIdx.x] = x + butterfly + ballot + all + any + same + sum + most + __shfl_sync(mask, up, 5);
}

extern "C" __global__ void atomics(int *data) {
    __shared__ unsigned counts[8];
    if (threadIdx.x < 8) counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[threadIdx.x & 7], 1u);
    atomicMax(&data[600], (int)threadIdx.x);
    atomicExch(&data[601], 3);
    int old = atomicCAS(&data[602], 0, 5);
    atomicAdd((float *)&data[603], 1.5f);
    atomicAdd((unsigned long long *)&data[604], 2ull);
    atomicInc((unsigned *)&data[606], 9u);
    atomicOr_block(&data[607], 1 << (threadIdx.x & 31));
    __syncthreads();
    if (threadIdx.x < 8) data[608 + threadIdx.x] = counts[threadIdx.x] + old;
}

extern "C" __global__ void last_block(float *data) {
    __shared__ bool is_last;
    if (!threadIdx.x) {
        ((volatile float *)data)[700 + blockIdx.x] = blockIdx.x;
        __threadfence();
        is_last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x) return;
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += ((volatile float *)data)[700 + b];
    data[710] = sum;
    tickets = 0;
}

extern "C" __global__ void prints(int *data) {
    if (threadIdx.x < 2) printf("%d %5.2f %s %c %llx%%\n", data[threadIdx.x], 1.5 * threadIdx.x, "text", 'c', 1ull << 40);
}

extern "C" __global__ void async_copies(float *data) {
    __shared__ __align__(16) float tile[2][192];
    for (int stage = 0; stage < 2; stage++) {
        __pipeline_memcpy_async(&tile[stage][threadIdx.x * 4], &data[threadIdx.x * 4], 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    float x = tile[0][threadIdx.x];
    __pipeline_wait_prior(0);
    __syncthreads();
    data[512 + threadIdx.x] = x + tile[1][47 - threadIdx.x];
}

extern "C" __global__ void table(int *data) {
    int x = data[threadIdx.x] & 7;
    switch (threadIdx.x & 7) {
    case 0: x = x * 3 + 1; break;
    case 1: x = x ^ 0x55; break;
    case 2: x = x << 3; break;
    case 3: x = x / 3; break;
    case 4: x = -x; break;
    case 5: x = x % 5; break;
    case 6: data[512] = x; x = 0; break;
    default: x = ~x;
    }
    data[520 + threadIdx.x] = x;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int *data) { data[512 + threadIdx.x] = fibonacci(threadIdx.x % 5); }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ int (*const operations[])(int) = {twice, square};
extern "C" __global__ void pointers(int *data) { data[512 + threadIdx.x] = operations[data[threadIdx.x] & 1](threadIdx.x); }

extern "C" __global__ void local_arrays(int *data) {
    int kept[16];
    for (int i = 0; i < 16; i++) kept[i] = i * i;
    int at = data[threadIdx.x] & 15;
    kept[at] = 7;
    data[512 + threadIdx.x] = kept[(at * 5) & 15] + (int)weights[at];
}

extern "C" __global__ void vectors(float4 *data) {
    float4 a = data[threadIdx.x];
    double2 d = *(double2 *)&data[48 + threadIdx.x];
    data[threadIdx.x + 130] = make_float4(a.w, a.z, a.y, (float)(d.x + d.y));
    ((short *)data)[1600 + threadIdx.x] = ((signed char *)data)[threadIdx.x];
}

extern "C" __global__ void halves(__half2 *data) {
    __half2 a = data[threadIdx.x], b = __float2half2_rn(0.5f);
    __half2 c = __hfma2(a, b, __hmax2(a, b));
    data[512 + threadIdx.x] = __hlt(__low2half(c), __high2half(a)) ? h2exp2(c) : __floats2half2_rn(__half2float(c.x), 2.f);
}

extern "C" __global__ void arithmetic(float *data) {
    int t = threadIdx.x;
    float x = data[t];
    unsigned u = __float_as_uint(x);
    x = sqrtf(x) / (t + 1) + __expf(x) + __logf(x + 1) + rsqrtf(x) + fminf(x, 2) + __sinf(x) + __frcp_ru(x);
    u = __popc(u) + __clz(u) + __ffs(u) + __brev(u) + __byte_perm(u, t, 0x3210) + __umulhi(u, t) + __dp4a((int)u, t, 3) + __funnelshift_l(u, t, 7) + __sad(t, 3, u);
    double d = fma((double)x, 2.0, sqrt((double)t)) / 3.0;
    long long l = __double2ll_rz(d) * t + __mul64hi(t, 123456789123ll);
    data[512 + t] = (float)d + (float)u + (float)l;
}

extern "C" __global__ void groups(int *data) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int x = tile.shfl_xor(data[threadIdx.x], 1);
    if (threadIdx.x & 1) {
        auto odd = cg::coalesced_threads();
        x += odd.shfl(x, 0) + odd.num_threads();
    }
    tile.sync();
    block.sync();
    data[512 + block.thread_rank()] = x + tile.any(x > 1);
}

extern "C" __global__ void spin_lock(int *data) {
    bool done = false;
    while (!done)
        if (!atomicCAS(&data[900], 0, 1)) {
            __threadfence();
            ((volatile int *)data)[901]++;
            __threadfence();
            atomicExch(&data[900], 0);
            done = true;
        }
}

extern "C" __global__ void barriers(int *data, int n) {
    extern __shared__ int shared[];
    shared[threadIdx.x & 31] = n;
    int some = __syncthreads_or(threadIdx.x == 3), count = __syncthreads_count(data[threadIdx.x] > 0);
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;");
        __syncwarp(threadIdx.x < 16 ? 0xffffu : 0xffff0000u);
    }
    data[512 + threadIdx.x] = shared[(threadIdx.x + 1) & 31] + some + count;
}
