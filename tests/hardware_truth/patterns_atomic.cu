// Atomics on 1 to 32 addresses a warp, near and far, with and without their result used, in global and in shared
// memory. ptxas adds up the integers of a warp before it issues one atomic where it can prove one address for all
// lanes; `ZERO` is 0 without its knowledge, so that `_hidden` kernels send every lane's own.
#include "patterns.h"
#define ZERO (n >> 15)

// ---- Global: lane t goes to address (t mod `addresses`) * `stride` elements ------------------------------------
#define ON(addresses, stride) (T % addresses * stride)
#define RED(name, V, addresses, stride) \
    K(red_##name##_##addresses##x##stride) { atomicAdd((V *)out + ON(addresses, stride), (V)in[I]); }
#define ATOM(name, V, addresses, stride) \
    K(atom_##name##_##addresses##x##stride) { out[n + I] = (float)atomicAdd((V *)out + ON(addresses, stride), (V)in[I]); }
#define BOTH(name, V, addresses, stride) RED(name, V, addresses, stride) ATOM(name, V, addresses, stride)
#define ADDRESSES(name, V) \
    BOTH(name, V, 1, 1) BOTH(name, V, 2, 1) BOTH(name, V, 4, 1) BOTH(name, V, 8, 1) BOTH(name, V, 16, 1) BOTH(name, V, 32, 1) \
    BOTH(name, V, 4, 8) BOTH(name, V, 16, 8) BOTH(name, V, 32, 8) \
    BOTH(name, V, 2, 32) BOTH(name, V, 32, 32)
ADDRESSES(f32, float)
ADDRESSES(i32, int)
BOTH(u64, u64, 1, 1)
BOTH(u64, u64, 2, 1)
BOTH(u64, u64, 4, 1)
BOTH(u64, u64, 32, 1)
BOTH(u64, u64, 8, 8)
BOTH(u64, u64, 32, 8)
BOTH(f64, double, 1, 1)
BOTH(f64, double, 8, 1)
BOTH(f64, double, 32, 1)
BOTH(f64, double, 32, 8)

#define HIDDEN(name, V) \
    K(red_##name##_hidden)  { atomicAdd((V *)out + T * ZERO, (V)in[I]); } \
    K(atom_##name##_hidden) { out[n + I] = (float)atomicAdd((V *)out + T * ZERO, (V)in[I]); }
HIDDEN(f32, float)
HIDDEN(i32, int)
HIDDEN(u64, u64)

// ---- Global: other orders of lanes ----------------------------------------------------------------------------
#define ORDERS(name, V) \
    K(red_##name##_by2)       { atomicAdd((V *)out + I / 2, (V)in[I]); } \
    K(red_##name##_by8)       { atomicAdd((V *)out + I / 8, (V)in[I]); } \
    K(red_##name##_by16)      { atomicAdd((V *)out + I / 16, (V)in[I]); } \
    K(red_##name##_offset1)   { atomicAdd((V *)out + I + 1, (V)in[I]); } \
    K(red_##name##_scattered) { atomicAdd((V *)out + h(I), (V)in[I]); } \
    K(red_##name##_few)       { atomicAdd((V *)out + h(I) % 16, (V)in[I]); } \
    K(red_##name##_half)      { if (L < 16) atomicAdd((V *)out + T % 4, (V)in[I]); } \
    K(red_##name##_odd)       { if (L & 1) atomicAdd((V *)out + T / 4, (V)in[I]); } \
    K(atom_##name##_by2)      { out[n + I] = (float)atomicAdd((V *)out + I / 2, (V)in[I]); } \
    K(atom_##name##_few)      { out[n + I] = (float)atomicAdd((V *)out + h(I) % 16, (V)in[I]); } \
    K(atom_##name##_lane0)    { if (L == 0) out[n + I] = (float)atomicAdd((V *)out, (V)in[I]); } \
    K(atom_##name##_odd)      { if (L & 1) out[n + I] = (float)atomicAdd((V *)out + T / 4, (V)in[I]); }
ORDERS(f32, float)
ORDERS(i32, int)

// ---- Global: other operations ---------------------------------------------------------------------------------
#define OPERATIONS(addresses) \
    K(red_max_##addresses)     { atomicMax((int *)out + ON(addresses, 1), (int)in[I]); } \
    K(red_min_##addresses)     { atomicMin((u32 *)out + ON(addresses, 1), (u32)in[I]); } \
    K(red_and_##addresses)     { atomicAnd((u32 *)out + ON(addresses, 1), (u32)in[I]); } \
    K(red_inc_##addresses)     { atomicInc((u32 *)out + ON(addresses, 1), (u32)in[I]); } \
    K(atom_max_##addresses)    { out[n + I] = (float)atomicMax((int *)out + ON(addresses, 1), (int)in[I]); } \
    K(atom_inc_##addresses)    { out[n + I] = (float)atomicInc((u32 *)out + ON(addresses, 1), 1000000u); } \
    K(atom_exch_##addresses)   { out[n + I] = (float)atomicExch((int *)out + ON(addresses, 1), (int)in[I]); } \
    K(atom_cas_##addresses)    { out[n + I] = (float)atomicCAS((int *)out + ON(addresses, 1), 0, (int)in[I]); } \
    K(atom_cas64_##addresses)  { out[n + I] = (float)atomicCAS((u64 *)out + ON(addresses, 1), 0ull, (u64)in[I]); } \
    K(unused_exch_##addresses) { atomicExch((int *)out + ON(addresses, 1), (int)in[I]); } \
    K(unused_cas_##addresses)  { atomicCAS((int *)out + ON(addresses, 1), 0, (int)in[I]); }
OPERATIONS(1)
OPERATIONS(4)
OPERATIONS(32)

// ---- Shared memory --------------------------------------------------------------------------------------------
#define SHARED(name, V, which, operation) \
    K(sh_##name##_##which) { \
        __shared__ V s[1024]; \
        _Pragma("unroll 1") for (int i = T; i < n >> 4; i += 256) s[i] = 0; \
        __syncthreads(); \
        operation; \
        __syncthreads(); \
        out[I] = (float)s[T]; \
    }
#define SHARED_ADD(addresses, stride) \
    SHARED(red_i32, int, addresses##x##stride, atomicAdd(&s[L % addresses * stride], (int)in[I])) \
    SHARED(atom_i32, int, addresses##x##stride, out[n + I] = (float)atomicAdd(&s[L % addresses * stride], (int)in[I]))
SHARED_ADD(1, 1)
SHARED_ADD(2, 1)
SHARED_ADD(4, 1)
SHARED_ADD(8, 1)
SHARED_ADD(16, 1)
SHARED_ADD(32, 1)
SHARED_ADD(2, 32)
SHARED_ADD(4, 32)
SHARED_ADD(8, 32)
SHARED_ADD(32, 32)
SHARED_ADD(32, 2)
SHARED_ADD(32, 8)
SHARED(red_i32, int, hidden, atomicAdd(&s[T * ZERO], (int)in[I]))
SHARED(atom_i32, int, hidden, out[n + I] = (float)atomicAdd(&s[T * ZERO], (int)in[I]))
SHARED(red_i32, int, by2, atomicAdd(&s[L / 2], (int)in[I]))
SHARED(red_i32, int, few, atomicAdd(&s[h(I) % 64], (int)in[I]))
SHARED(red_i32, int, half, if (L < 16) atomicAdd(&s[T], (int)in[I]))
SHARED(red_i32, int, odd, if (L & 1) atomicAdd(&s[T / 4], (int)in[I]))
SHARED(red_max, int, 4x1, atomicMax(&s[L % 4], (int)in[I]))
SHARED(red_inc, u32, 4x1, atomicInc(&s[L % 4], 1000u))
SHARED(atom_inc, u32, hidden, out[n + I] = (float)atomicInc(&s[T * ZERO], 1000u))
SHARED(atom_exch, int, 4x1, out[n + I] = (float)atomicExch(&s[L % 4], (int)in[I]))
SHARED(atom_cas, int, 4x1, out[n + I] = (float)atomicCAS(&s[L % 4], 0, (int)in[I]))
SHARED(atom_cas, int, 32x1, out[n + I] = (float)atomicCAS(&s[L], 0, (int)in[I]))
SHARED(atom_cas64, u64, 32x1, out[n + I] = (float)atomicCAS(&s[L], 0ull, (u64)in[I]))

// A compare-and-swap loop in SASS: how often it turns, and so what it counts, is the hardware's own affair.
SHARED(red_f32, float, 32x1, atomicAdd(&s[T], in[I]))
SHARED(red_f32, float, 2x1, atomicAdd(&s[L % 2], in[I]))
SHARED(red_u64, u64, 32x1, atomicAdd(&s[T], (u64)in[I]))

// ---- Global: addresses that the L1 takes for one ----------------------------------------------------------------
// It compares 9 bits of an address. `alike`: lanes 8 to 15 want line 159 of a page, which it takes for line 0, at the
// places of lanes 16 to 23 in line 0; `unlike`: line 160, which it does not.
#define AT(line) (L < 8 ? L : L < 16 ? (line) * 32 + L : L < 24 ? L - 8 : L)
K(red_f32_line_159) { atomicAdd(out + AT(159), in[I]); }
K(red_f32_line_160) { atomicAdd(out + AT(160), in[I]); }
K(red_i32_line_159) { atomicAdd((int *)out + AT(159), (int)in[I]); }
K(atom_f32_line_159) { out[n + I] = atomicAdd(out + AT(159), in[I]); }
#define SCATTERED(name, V) \
    K(atom_##name##_scattered)  { out[2 * n + I] = (float)atomicAdd((V *)out + h(I), (V)in[I]); } \
    K(red_##name##_scattered_in_lines) { atomicAdd((V *)out + h(I) % 512, (V)in[I]); } \
    K(red_##name##_scattered_by4) { atomicAdd((V *)out + h(I) / 4 * 4 + T % 4, (V)in[I]); }
SCATTERED(f32, float)
SCATTERED(i32, int)
SCATTERED(u64, u64)
SCATTERED(f64, double)
K(red_u64_scattered) { atomicAdd((u64 *)out + h(I), (u64)in[I]); }
K(red_f64_scattered) { atomicAdd((double *)out + h(I), (double)in[I]); }
K(red_max_scattered) { atomicMax((int *)out + h(I) % 1024, (int)in[I]); }
K(atom_cas_scattered) { out[2 * n + I] = (float)atomicCAS((int *)out + h(I) % 1024, 0, I); }
