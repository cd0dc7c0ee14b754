// half: IEEE binary16. Arithmetic rounds to nearest even (PTX ISA, "Half Precision Floating Point
// Instructions").
#pragma once

#include "warpbook/narrow_types.h"

struct __half_raw {
    unsigned short x;
};
struct __align__(2) __half {
    unsigned short bits;

    __half() = default;
    WARPBOOK_MEMBER __half(float a) : bits(__builtin_bit_cast(unsigned short, (_Float16)a)) {}
    WARPBOOK_MEMBER __half(double a) : bits(__builtin_bit_cast(unsigned short, (_Float16)a)) {}
    WARPBOOK_MEMBER __half(int a) : bits(__builtin_bit_cast(unsigned short, (_Float16)(float)a)) {}
    WARPBOOK_MEMBER __half(__half_raw a) : bits(a.x) {}
    WARPBOOK_MEMBER operator __half_raw() const volatile { return {bits}; } // how a volatile one is copied
    WARPBOOK_MEMBER operator float() const { return (float)__builtin_bit_cast(_Float16, bits); }
    WARPBOOK_MEMBER __half &operator=(float a) {
        bits = __builtin_bit_cast(unsigned short, (_Float16)a);
        return *this;
    }
};
struct __align__(4) __half2 {
    __half x, y;

    __half2() = default;
    WARPBOOK_MEMBER __half2(__half x, __half y) : x(x), y(y) {}
};
using half = __half;
using half2 = __half2;

WARPBOOK_DEVICE __half __ushort_as_half(unsigned short bits) {
    __half r;
    r.bits = bits;
    return r;
}
WARPBOOK_DEVICE unsigned short __half_as_ushort(__half a) { return a.bits; }
WARPBOOK_DEVICE __half __short_as_half(short bits) { return __ushort_as_half((unsigned short)bits); }
WARPBOOK_DEVICE short __half_as_short(__half a) { return (short)a.bits; }
WARPBOOK_DEVICE float __half2float(__half a) { return a; }
WARPBOOK_DEVICE __half __float2half(float a) { return __half(a); }
WARPBOOK_DEVICE __half __float2half_rn(float a) { return __half(a); }
WARPBOOK_DEVICE __half __float2half_rz(float a) {
    __half r;
    asm("cvt.rz.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(a));
    return r;
}
WARPBOOK_DEVICE __half __double2half(double a) { return __half(a); }
WARPBOOK_DEVICE __half __int2half_rn(int a) { return __half((float)a); }
WARPBOOK_DEVICE __half2 __halves2half2(__half x, __half y) { return {x, y}; }
WARPBOOK_DEVICE __half2 make_half2(__half x, __half y) { return {x, y}; }
WARPBOOK_DEVICE __half2 __half2half2(__half a) { return {a, a}; }
WARPBOOK_DEVICE __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
WARPBOOK_DEVICE __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
WARPBOOK_DEVICE __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
WARPBOOK_DEVICE float2 __half22float2(__half2 a) { return {a.x, a.y}; }
WARPBOOK_DEVICE __half __low2half(__half2 a) { return a.x; }
WARPBOOK_DEVICE __half __high2half(__half2 a) { return a.y; }

#define WARPBOOK_HALF(name, instruction)                                                                     \
    WARPBOOK_DEVICE __half name(__half a, __half b) {                                                        \
        __half r;                                                                                            \
        asm(instruction ".f16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));                       \
        return r;                                                                                            \
    }                                                                                                        \
    WARPBOOK_DEVICE __half2 name##2(__half2 a, __half2 b) {                                                  \
        unsigned int r;                                                                                      \
        asm(instruction ".f16x2 %0, %1, %2;"                                                                 \
            : "=r"(r)                                                                                        \
            : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)));           \
        return __builtin_bit_cast(__half2, r);                                                               \
    }
WARPBOOK_HALF(__hadd, "add.rn")
WARPBOOK_HALF(__hsub, "sub.rn")
WARPBOOK_HALF(__hmul, "mul.rn")
WARPBOOK_HALF(__hmax, "max")
WARPBOOK_HALF(__hmin, "min")
#undef WARPBOOK_HALF
WARPBOOK_DEVICE __half __hfma(__half a, __half b, __half c) {
    __half r;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return r;
}
WARPBOOK_DEVICE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    unsigned int r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;"
        : "=r"(r)
        : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)),
          "r"(__builtin_bit_cast(unsigned int, c)));
    return __builtin_bit_cast(__half2, r);
}

WARPBOOK_NARROW_ARITHMETIC(__half, __half2, __ushort_as_half)
WARPBOOK_NARROW(__half, unsigned short)
WARPBOOK_NARROW(__half2, unsigned int)
