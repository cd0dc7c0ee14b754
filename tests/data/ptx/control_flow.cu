// Control flow that is hard on a machine of 32 lanes. tests/test_control_flow.py says in Python what every
// thread must compute; thread i of the grid reads in[i] and writes out[i].
#define KERNEL(name) extern "C" __global__ void name(const int *__restrict__ in, int *__restrict__ out)
#define I ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define NOINLINE __device__ __noinline__

KERNEL(nested) {
    int x = in[I], r = 0;
    if (x & 1) {
        if (x & 2) {
            if (x & 4) r = x * 3; else { r = x - 7; if (x & 8) r ^= 0x55; }
        } else { for (int k = 0; k < (x & 7); k++) if (k & x) r += k; else r -= 2 * k; }
        r += 1000;
    } else if (x & 16) { int k = x; while (k > 1) { k = k & 1 ? 3 * k + 1 : k / 2; r++; } }
    else r = -x;
    out[I] = r;
}

KERNEL(break_continue) {
    int x = in[I], r = 0;
    for (int a = 0; a < 20; a++) {
        if (a == (x & 31)) break;
        if ((a ^ x) & 2) continue;
        for (int b = a;; b += 3) {
            if (b > (x >> 3 & 15)) break;
            if (b & 1) { r += b; continue; }
            if (r > 300) goto done;
            r += a * b + 1;
        }
        r ^= a;
    }
done:
    out[I] = r;
}

KERNEL(do_while) {
    unsigned x = (unsigned)in[I] | 1u, r = 0;
    do { r = r * 31 + x; x = x * 1664525u + 1013904223u; } while (x >> 29 && r & 0xf000);
    out[I] = (int)r;
}

KERNEL(exit_before_barrier) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[I];
    __syncthreads();
    if (t % 3 == 1) return;
    int v = s[(t + 1) % blockDim.x];
    __syncthreads();
    if (t % 5 == 2) { out[I] = -1; return; }
    s[t] = v;
    __syncthreads();
    out[I] = s[t] + v;
}

// A table of branches: brx.idx.
KERNEL(switch_table) {
    int x = in[I], r = 0;
    for (int k = 0; k < 3; k++) {
        switch ((x >> 4 * k) & 15) {
        case 0: r += x / 3; break;
        case 1: r = r * 5 + 1;
        case 2: r ^= x >> 2; break;
        case 3: r -= 77; break;
        case 4: { int p = r; for (int j = 0; j < 5; j++) p = p * p + j; r = p; break; }
        case 5: r = ~r; break;
        case 6: r = r << 3 | 5; break;
        case 7: if (x & 256) { r += 9; break; }
        case 8: r = r % 1001; break;
        case 9: out[I] = r + 12345; return;
        case 10: r = __popc(r) * 7; break;
        case 11: r = __brev(r); break;
        case 12: continue;
        default: r += 1 << k; break;
        }
        r += 3;
    }
    out[I] = r;
}

// Two loops that jump into each other: no single entry.
KERNEL(irreducible) {
    int x = in[I], r = 0, fuel = 60;
    if (x & 1) goto middle;
top:
    r += 3;
    if (--fuel < 0) goto end;
    if ((r ^ x) & 4) goto lower;
middle:
    r = r * 3 + (x & 7);
    if (--fuel < 0) goto end;
    if (r & 8) goto top;
lower:
    r ^= x;
    if (--fuel < 0) goto end;
    if (r & 2) goto middle;
    if (r & 16) goto top;
end:
    out[I] = r;
}

// Each lane takes the lock in its turn; the work inside is no atomic.
extern "C" __global__ void spin_lock(int *lock, volatile int *count, int *order) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            int mine = *count;
            *count = mine + 1;
            order[I] = mine;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// The lock as it is written on older GPUs: the lane that has it leaves the loop first.
extern "C" __global__ void spin_lock_outside(int *lock, volatile int *count, int *order) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    order[I] = *count;
    *count = order[I] + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Lane 0 waits for what lane 31 of its own warp writes.
extern "C" __global__ void flag_within_warp(volatile int *flag, int *out) {
    int w = I / 32;
    if (threadIdx.x % 32 == 0) { while (flag[w] == 0) {} out[w] = flag[w] + 1; }
    else if (threadIdx.x % 32 == 31) { flag[w] = 41; }
}

NOINLINE int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
KERNEL(recursion) { out[I] = fib(in[I] & 7); }

NOINLINE int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
KERNEL(ackermann_small) { out[I] = ackermann(in[I] & 1, in[I] >> 1 & 3) + ackermann(2, in[I] & 1); }

NOINLINE int is_odd(int n);
NOINLINE int is_even(int n) { return n == 0 ? 1 : 10 * is_odd(n - 1) % 1000; }
NOINLINE int is_odd(int n) { return n == 0 ? 0 : 1 + is_even(n - 1); }
KERNEL(mutual) { out[I] = is_even(in[I] & 31); }

typedef int Operation(int);
NOINLINE int twice(int x) { return 2 * x; }
NOINLINE int square(int x) { return x * x; }
NOINLINE int collatz(int x) { int n = 0; x &= 63; while (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; n++; } return n; }
NOINLINE int recursive(int x) { return x & 1 ? fib(x & 7) : -1; }
__device__ Operation *const operations[] = {twice, square, collatz, recursive};
KERNEL(function_pointers) { int r = in[I]; for (int k = 0; k < 3; k++) r = operations[(r >> k) & 3](r) + k; out[I] = r; }

KERNEL(calls_in_divergent_code) {
    int x = in[I], r = 0;
    if (x & 1) r = square(x & 31); else if (x & 2) r = collatz(x); else r = twice(x);
    for (int k = 0; k < (x & 3); k++) if ((x >> k) & 1) r += collatz(r);
    out[I] = r;
}

NOINLINE int find(const int *in, int start, int wanted) {
    for (int k = 0; k < 40; k++) {
        if ((in[start + k] & 15) == wanted) return k;
        if (in[start + k] < 0) return -k;
    }
    return 99;
}
KERNEL(return_inside_loop) { out[I] = find(in, I, in[I] & 15) * 1000 + find(in, I + 1, (in[I] >> 4) & 15); }

struct Point { int x; short y; signed char z; double w; };
struct Big { int v[20]; };
NOINLINE Point mix(Point a, Point b, int k) { Point r; r.x = a.x + b.y; r.y = (short)(a.y - k); r.z = (signed char)(a.z ^ b.z); r.w = a.w * b.w; return r; }
NOINLINE Big shuffled(Big b, int by) { Big r; for (int k = 0; k < 20; k++) r.v[k] = b.v[(k + by) % 20] + k; return r; }
KERNEL(structs) {
    int x = in[I];
    Point a = {x, (short)x, (signed char)(x >> 3), x * 0.5}, b = {x ^ 21, (short)(x * 7), (signed char)(x * 5), 3.0};
    Point p = x & 1 ? mix(a, b, x & 15) : mix(b, a, 4);
    Big big;
    for (int k = 0; k < 20; k++) big.v[k] = x + k * k;
    big = shuffled(big, x & 7);
    if (x & 4) big = shuffled(big, 3);
    out[I] = p.x + 31 * p.y + 1009 * p.z + (int)p.w + big.v[x & 15] * 3;
}

NOINLINE int leave_some(int x, int depth) {
    if (depth == 0) { if ((x & 7) == 3) asm volatile("exit;"); return x; }
    int r = leave_some(x, depth - 1);
    if ((x & 15) == depth) asm volatile("exit;");
    return r + depth;
}
KERNEL(exit_inside_calls) {
    int x = in[I];
    out[I] = -5;
    if (x & 32) x = leave_some(x, 3);
    else x = leave_some(x, 1) * 2;
    __syncthreads();
    out[I] = x;
}

KERNEL(local_array) {
    int big[2000];
    int x = in[I];
    for (int k = 0; k < 2000; k += 1 + (x & 3)) big[k] = k * x;
    int r = 0;
    for (int k = 0; k < 2000; k += 1 + (x & 3)) r = r * 3 + big[k];
    out[I] = r;
}

// Pointers to private, shared and global memory in one load and one store.
extern "C" __global__ void mixed_pointers(const int *in, int *out) { // no __restrict__: p may be out
    __shared__ int s[128];
    int mine[4];
    int x = in[I];
    for (int k = 0; k < 4; k++) mine[k] = x + k;
    s[threadIdx.x] = 2 * x;
    int *p = x % 3 == 0 ? &mine[x & 3] : x % 3 == 1 ? &s[threadIdx.x] : &out[I];
    out[I] = -x;
    *p += 5;
    int r = *p;
    out[I] = r + (x % 3 == 2 ? 0 : 1000);
}

extern "C" __global__ void shapes(int *out) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int *mine = out + 8 * (block * (int)(blockDim.x * blockDim.y * blockDim.z) + thread);
    unsigned lane, warp;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    mine[0] = threadIdx.x; mine[1] = threadIdx.y; mine[2] = threadIdx.z;
    mine[3] = blockIdx.x; mine[4] = blockIdx.y; mine[5] = blockIdx.z;
    mine[6] = (int)lane; mine[7] = (int)warp;
}

extern "C" __global__ void endless(int *out) { while (*(volatile int *)out == 0) {} }
extern "C" __global__ void endless_for_one_lane(volatile int *out) { if (threadIdx.x == 7) while (*out == 0) {} out[1] = 1; }
NOINLINE int bottomless(int n) { return n < 0 ? 0 : 1 + bottomless(n + 1) * n; }
extern "C" __global__ void deep_recursion(int *out) { out[I] = bottomless(out[I]); }
NOINLINE int roomy(int n, const int *more) { int a[512]; for (int k = 0; k < 512; k++) a[k] = n + (more ? more[k] : 0); return n > 900 ? a[n & 511] : roomy(n + 1, a) + a[3]; }
extern "C" __global__ void deep_frames(int *out) { out[I] = roomy(out[I], nullptr); }
