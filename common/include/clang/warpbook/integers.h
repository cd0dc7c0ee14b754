// Functions of integers: minimum and maximum, bits, bytes and wide products.
#pragma once

#define WARPBOOK_EXTREMA(type)                                                                                    \
    WARPBOOK_BOTH constexpr type min(type a, type b) { return a < b ? a : b; }                                    \
    WARPBOOK_BOTH constexpr type max(type a, type b) { return a > b ? a : b; }
WARPBOOK_EXTREMA(int)
WARPBOOK_EXTREMA(unsigned int)
WARPBOOK_EXTREMA(long)
WARPBOOK_EXTREMA(unsigned long)
WARPBOOK_EXTREMA(long long)
WARPBOOK_EXTREMA(unsigned long long)
#undef WARPBOOK_EXTREMA
// A signed and an unsigned number are both taken as unsigned, as C does.
#define WARPBOOK_MIXED_EXTREMA(a_type, b_type, type)                                                              \
    WARPBOOK_BOTH constexpr type min(a_type a, b_type b) { return min((type)a, (type)b); }                        \
    WARPBOOK_BOTH constexpr type min(b_type a, a_type b) { return min((type)a, (type)b); }                        \
    WARPBOOK_BOTH constexpr type max(a_type a, b_type b) { return max((type)a, (type)b); }                        \
    WARPBOOK_BOTH constexpr type max(b_type a, a_type b) { return max((type)a, (type)b); }
WARPBOOK_MIXED_EXTREMA(int, unsigned int, unsigned int)
WARPBOOK_MIXED_EXTREMA(long, unsigned long, unsigned long)
WARPBOOK_MIXED_EXTREMA(long long, unsigned long long, unsigned long long)
#undef WARPBOOK_MIXED_EXTREMA
WARPBOOK_DEVICE unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
WARPBOOK_DEVICE unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
WARPBOOK_DEVICE long long llmin(long long a, long long b) { return min(a, b); }
WARPBOOK_DEVICE long long llmax(long long a, long long b) { return max(a, b); }
WARPBOOK_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
WARPBOOK_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

WARPBOOK_BOTH int abs(int a) { return __builtin_abs(a); }
WARPBOOK_BOTH long abs(long a) { return __builtin_labs(a); }
WARPBOOK_BOTH long long abs(long long a) { return __builtin_llabs(a); }
WARPBOOK_BOTH long labs(long a) { return __builtin_labs(a); }
WARPBOOK_BOTH long long llabs(long long a) { return __builtin_llabs(a); }

WARPBOOK_DEVICE int __popc(unsigned int a) { return __builtin_popcount(a); }
WARPBOOK_DEVICE int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
WARPBOOK_DEVICE int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned int)a); }
WARPBOOK_DEVICE int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll((unsigned long long)a); }
WARPBOOK_DEVICE int __ffs(int a) { return __builtin_ffs(a); }
WARPBOOK_DEVICE int __ffsll(long long a) { return __builtin_ffsll(a); }
WARPBOOK_DEVICE unsigned int __brev(unsigned int a) { return __builtin_bitreverse32(a); }
WARPBOOK_DEVICE unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
WARPBOOK_DEVICE unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
    return __nvvm_prmt(a, b, selector);
}
WARPBOOK_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    unsigned int place;
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(place) : "r"(mask), "r"(base), "r"(offset));
    return place;
}

WARPBOOK_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    const unsigned long long both = (unsigned long long)high << 32 | low;
    return (unsigned int)((both << (shift & 31)) >> 32);
}
WARPBOOK_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
WARPBOOK_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
WARPBOOK_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

WARPBOOK_DEVICE int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
WARPBOOK_DEVICE unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a * b) >> 32);
}
WARPBOOK_DEVICE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
WARPBOOK_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return __nvvm_mulhi_ull(a, b);
}
WARPBOOK_DEVICE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
WARPBOOK_DEVICE unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffff) * (b & 0xffffff); }
WARPBOOK_DEVICE unsigned int __sad(int a, int b, unsigned int c) { return c + (unsigned int)(a > b ? a - b : b - a); }
WARPBOOK_DEVICE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a > b ? a - b : b - a);
}
WARPBOOK_DEVICE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
WARPBOOK_DEVICE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
WARPBOOK_DEVICE unsigned int __uhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b) >> 1);
}
WARPBOOK_DEVICE unsigned int __urhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}
WARPBOOK_DEVICE int __dp4a(int a, int b, int c) {
    int sum;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}
WARPBOOK_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    unsigned int sum;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}
