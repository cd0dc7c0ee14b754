// Source of kernels.ptx: what nvcc makes of calls, tables, strings, local arrays, switches and inline asm.
// nvcc -ptx -lineinfo -arch=compute_80 kernels.cu, with the folder taken from the names in .file.
#include <cassert>
#include <cstdio>

struct Pair { char tag; int number; int *pointer; float value; };
struct __attribute__((packed)) Packed { char tag; int *pointer; short number; };

__device__ int counter = 7;
__device__ int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ float floats[4] = {1.5f, -0.f, 3e38f};
__device__ double one_double = 2.5;
__constant__ char text[] = "hello";
__device__ int *pointer = &matrix[1][1];
__device__ Pair pair = {1, 2, &counter, 3.f};
__device__ Packed packed = {1, &counter, 7};
__managed__ int managed = 3;

typedef int (*Function)(int);
__device__ __noinline__ int plus_one(int x) { return x + 1; }
__device__ __noinline__ int times_three(int x) { return x * 3; }
__device__ Function table[2] = {plus_one, times_three};
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1) + counter; }
__device__ __noinline__ Pair add(Pair p, int k) { p.number += k; return p; }

template <int N> __global__ void __launch_bounds__(N, 2) reverse(int *out) {
    __shared__ int tile[N];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
template __global__ void reverse<64>(int *);

__global__ void calls(int *out, int k) {
    out[0] = table[k](out[1]);
    out[2] = factorial(k);
    Pair p = add(pair, k);
    out[3] = p.number + *p.pointer + text[k] + *pointer + managed + *packed.pointer;
}

__global__ void prints(int n, float f, int *out) {
    printf("n=%d f=%f %s\n", n, f, text);
    assert(n > 3);
    int local[32];
    for (int i = 0; i < 32; i++) local[i] = out[i];
    for (int i = 0; i < n; i++) local[local[i] & 31] += i;
    out[0] = local[n & 31];
}

__global__ void scopes(int *out, int k) {
    int result;
    asm volatile("{ .reg .pred p; .reg .b32 t, q; setp.ne.s32 p, %1, 0;\n"
                 "@p mov.u32 t, 5; @!p mov.u32 t, 0x1F; mov.b32 q, t;\n"
                 "{ .reg .b32 t; mov.u32 t, %%laneid; add.s32 q, q, t; }\n"
                 "add.s32 %0, t, q; }"
                 : "=r"(result) : "r"(k) : "memory");
    out[0] = result;
    float first;
    asm volatile("ld.global.v2.f32 {%0, _}, [%1+-8];" : "=f"(first) : "l"(out));
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = (int)first;
    __syncwarp();
    out[3] = __shfl_down_sync(~0u, dynamic[3], 2);
}

__global__ void chooses(int *out, int k) {
    switch (k) {
    case 0: out[0] = plus_one(k); break;
    case 1: out[1] = 7 * k; __syncthreads(); break;
    case 2: atomicAdd(out, 3); break;
    case 3: out[4] = out[5]; break;
    case 4: out[8] = __popc(k); break;
    case 5: __trap();
    case 6: __threadfence(); out[1] = 1; break;
    }
}
