// bfloat16: the upper half of a float. Arithmetic is that of float, rounded once (PTX ISA, "cvt", "fma").
#pragma once

#include "warpbook/narrow_types.h"

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __align__(2) __nv_bfloat16 {
    unsigned short bits;

    __nv_bfloat16() = default;
    WARPBOOK_MEMBER __nv_bfloat16(float a);
    WARPBOOK_MEMBER __nv_bfloat16(double a);
    WARPBOOK_MEMBER __nv_bfloat16(int a);
    WARPBOOK_MEMBER __nv_bfloat16(__nv_bfloat16_raw a) : bits(a.x) {}
    WARPBOOK_MEMBER operator __nv_bfloat16_raw() const volatile {
        return {bits};
    } // how a volatile one is copied
    WARPBOOK_MEMBER operator float() const { return __builtin_bit_cast(float, (unsigned int)bits << 16); }
    WARPBOOK_MEMBER __nv_bfloat16 &operator=(float a);
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    WARPBOOK_MEMBER __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

WARPBOOK_DEVICE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    __nv_bfloat16 r;
    r.bits = bits;
    return r;
}
WARPBOOK_DEVICE unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
WARPBOOK_DEVICE __nv_bfloat16 __short_as_bfloat16(short bits) {
    return __ushort_as_bfloat16((unsigned short)bits);
}
WARPBOOK_DEVICE short __bfloat16_as_short(__nv_bfloat16 a) { return (short)a.bits; }

WARPBOOK_DEVICE __nv_bfloat16 __float2bfloat16_rn(float a) {
    __nv_bfloat16 r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(a));
    return r;
}
WARPBOOK_DEVICE __nv_bfloat16 __float2bfloat16_rz(float a) {
    __nv_bfloat16 r;
    asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(a));
    return r;
}
WARPBOOK_DEVICE __nv_bfloat16 __float2bfloat16(float a) { return __float2bfloat16_rn(a); }
WARPBOOK_DEVICE __nv_bfloat16 __double2bfloat16(double a) { return __float2bfloat16_rn((float)a); }
WARPBOOK_DEVICE __nv_bfloat16 __int2bfloat16_rn(int a) { return __float2bfloat16_rn((float)a); }
WARPBOOK_DEVICE float __bfloat162float(__nv_bfloat16 a) { return a; }
WARPBOOK_MEMBER __nv_bfloat16::__nv_bfloat16(float a) : bits(__float2bfloat16_rn(a).bits) {}
WARPBOOK_MEMBER __nv_bfloat16::__nv_bfloat16(double a) : bits(__float2bfloat16_rn((float)a).bits) {}
WARPBOOK_MEMBER __nv_bfloat16::__nv_bfloat16(int a) : bits(__float2bfloat16_rn((float)a).bits) {}
WARPBOOK_MEMBER __nv_bfloat16 &__nv_bfloat16::operator=(float a) {
    bits = __float2bfloat16_rn(a).bits;
    return *this;
}

WARPBOOK_DEVICE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
WARPBOOK_DEVICE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
WARPBOOK_DEVICE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
WARPBOOK_DEVICE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
WARPBOOK_DEVICE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
WARPBOOK_DEVICE float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
WARPBOOK_DEVICE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    unsigned int both; // the first operand of cvt is the upper half
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
    return __builtin_bit_cast(__nv_bfloat162, both);
}
WARPBOOK_DEVICE __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
WARPBOOK_DEVICE __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }

WARPBOOK_DEVICE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    __nv_bfloat16 r;
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
    return r;
}
WARPBOOK_DEVICE __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { // a * 1 + b
    return __hfma(a, __ushort_as_bfloat16(0x3f80), b);
}
WARPBOOK_DEVICE __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { // b * -1 + a
    return __hfma(b, __ushort_as_bfloat16(0xbf80), a);
}
WARPBOOK_DEVICE __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { // a * b + -0
    return __hfma(a, b, __ushort_as_bfloat16(0x8000));
}
WARPBOOK_DEVICE __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __float2bfloat16_rn(fmaxf(a, b));
}
WARPBOOK_DEVICE __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __float2bfloat16_rn(fminf(a, b));
}
WARPBOOK_DEVICE __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    unsigned int r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(r)
        : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)),
          "r"(__builtin_bit_cast(unsigned int, c)));
    return __builtin_bit_cast(__nv_bfloat162, r);
}
WARPBOOK_DEVICE __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __hfma2(a, __builtin_bit_cast(__nv_bfloat162, 0x3f803f80u), b);
}
WARPBOOK_DEVICE __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __hfma2(b, __builtin_bit_cast(__nv_bfloat162, 0xbf80bf80u), a);
}
WARPBOOK_DEVICE __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __hfma2(a, b, __builtin_bit_cast(__nv_bfloat162, 0x80008000u));
}
WARPBOOK_DEVICE __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
WARPBOOK_DEVICE __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}

WARPBOOK_NARROW_ARITHMETIC(__nv_bfloat16, __nv_bfloat162, __ushort_as_bfloat16)
WARPBOOK_NARROW(__nv_bfloat16, unsigned short)
WARPBOOK_NARROW(__nv_bfloat162, unsigned int)
