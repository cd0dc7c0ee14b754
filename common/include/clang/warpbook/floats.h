// Bits of floating-point numbers, conversions and arithmetic with a named rounding. A sum or product that names its
// rounding is never fused with another.
#pragma once

WARPBOOK_DEVICE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
WARPBOOK_DEVICE unsigned int __float_as_uint(float a) { return __builtin_bit_cast(unsigned int, a); }
WARPBOOK_DEVICE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
WARPBOOK_DEVICE float __uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }
WARPBOOK_DEVICE long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
WARPBOOK_DEVICE double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
WARPBOOK_DEVICE int __double2hiint(double a) { return (int)(__double_as_longlong(a) >> 32); }
WARPBOOK_DEVICE int __double2loint(double a) { return (int)__double_as_longlong(a); }
WARPBOOK_DEVICE double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)high << 32 | (unsigned int)low);
}

#define WARPBOOK_BY_ROUNDING(what, prefix, name)                                                                  \
    what(prefix, name, rn) what(prefix, name, rz) what(prefix, name, ru) what(prefix, name, rd)
#define WARPBOOK_PTX_ROUNDING_rn "rn"
#define WARPBOOK_PTX_ROUNDING_rz "rz"
#define WARPBOOK_PTX_ROUNDING_ru "rp"
#define WARPBOOK_PTX_ROUNDING_rd "rm"
#define WARPBOOK_PTX_INTEGER_rn "rni"
#define WARPBOOK_PTX_INTEGER_rz "rzi"
#define WARPBOOK_PTX_INTEGER_ru "rpi"
#define WARPBOOK_PTX_INTEGER_rd "rmi"

#define WARPBOOK_BINARY(c, type, letter, name, operation, rounding)                                               \
    WARPBOOK_DEVICE type __##c##name##_##rounding(type a, type b) {                                               \
        type r;                                                                                                   \
        asm(operation "." WARPBOOK_PTX_ROUNDING_##rounding letter " %0, %1, %2;"                                  \
            : "=" #c(r)                                                                                           \
            : #c(a), #c(b));                                                                                      \
        return r;                                                                                                 \
    }
#define WARPBOOK_ARITHMETIC(c, type, rounding)                                                                    \
    WARPBOOK_BINARY(c, type, WARPBOOK_SUFFIX_##c, add, "add", rounding)                                           \
    WARPBOOK_BINARY(c, type, WARPBOOK_SUFFIX_##c, sub, "sub", rounding)                                           \
    WARPBOOK_BINARY(c, type, WARPBOOK_SUFFIX_##c, mul, "mul", rounding)                                           \
    WARPBOOK_BINARY(c, type, WARPBOOK_SUFFIX_##c, div, "div", rounding)                                           \
    WARPBOOK_DEVICE type __##c##sqrt_##rounding(type a) {                                                         \
        type r;                                                                                                   \
        asm("sqrt." WARPBOOK_PTX_ROUNDING_##rounding WARPBOOK_SUFFIX_##c " %0, %1;" : "=" #c(r) : #c(a));         \
        return r;                                                                                                 \
    }                                                                                                             \
    WARPBOOK_DEVICE type __##c##rcp_##rounding(type a) {                                                          \
        type r;                                                                                                   \
        asm("rcp." WARPBOOK_PTX_ROUNDING_##rounding WARPBOOK_SUFFIX_##c " %0, %1;" : "=" #c(r) : #c(a));          \
        return r;                                                                                                 \
    }
#define WARPBOOK_SUFFIX_f ".f32"
#define WARPBOOK_SUFFIX_d ".f64"
WARPBOOK_ARITHMETIC(f, float, rn)
WARPBOOK_ARITHMETIC(f, float, rz)
WARPBOOK_ARITHMETIC(f, float, ru)
WARPBOOK_ARITHMETIC(f, float, rd)
WARPBOOK_ARITHMETIC(d, double, rn)
WARPBOOK_ARITHMETIC(d, double, rz)
WARPBOOK_ARITHMETIC(d, double, ru)
WARPBOOK_ARITHMETIC(d, double, rd)
#undef WARPBOOK_ARITHMETIC
#undef WARPBOOK_BINARY

#define WARPBOOK_FUSED(name, type, letter, suffix, rounding)                                                      \
    WARPBOOK_DEVICE type name##_##rounding(type a, type b, type c) {                                              \
        type r;                                                                                                   \
        asm("fma." WARPBOOK_PTX_ROUNDING_##rounding suffix " %0, %1, %2, %3;"                                     \
            : "=" letter(r)                                                                                       \
            : letter(a), letter(b), letter(c));                                                                   \
        return r;                                                                                                 \
    }
#define WARPBOOK_FUSED_BOTH(rounding)                                                                             \
    WARPBOOK_FUSED(__fmaf, float, "f", ".f32", rounding) WARPBOOK_FUSED(__fma, double, "d", ".f64", rounding)
WARPBOOK_FUSED_BOTH(rn)
WARPBOOK_FUSED_BOTH(rz)
WARPBOOK_FUSED_BOTH(ru)
WARPBOOK_FUSED_BOTH(rd)
#undef WARPBOOK_FUSED_BOTH
#undef WARPBOOK_FUSED

// Conversions. The name of a C type in a CUDA name, the C type, the letter of asm and the type of PTX.
#define WARPBOOK_CONVERT(from_name, from, from_letter, from_ptx, to_name, to, to_letter, to_ptx, rounding, word)  \
    WARPBOOK_DEVICE to __##from_name##2##to_name##_##rounding(from a) {                                           \
        to r;                                                                                                     \
        asm("cvt." WARPBOOK_PTX_##word##_##rounding to_ptx from_ptx " %0, %1;" : "=" to_letter(r) : from_letter(a)); \
        return r;                                                                                                 \
    }
#define WARPBOOK_CONVERSIONS(rounding)                                                                            \
    WARPBOOK_CONVERT(float, float, "f", ".f32", int, int, "r", ".s32", rounding, INTEGER)                         \
    WARPBOOK_CONVERT(float, float, "f", ".f32", uint, unsigned int, "r", ".u32", rounding, INTEGER)               \
    WARPBOOK_CONVERT(float, float, "f", ".f32", ll, long long, "l", ".s64", rounding, INTEGER)                    \
    WARPBOOK_CONVERT(float, float, "f", ".f32", ull, unsigned long long, "l", ".u64", rounding, INTEGER)          \
    WARPBOOK_CONVERT(double, double, "d", ".f64", int, int, "r", ".s32", rounding, INTEGER)                       \
    WARPBOOK_CONVERT(double, double, "d", ".f64", uint, unsigned int, "r", ".u32", rounding, INTEGER)             \
    WARPBOOK_CONVERT(double, double, "d", ".f64", ll, long long, "l", ".s64", rounding, INTEGER)                  \
    WARPBOOK_CONVERT(double, double, "d", ".f64", ull, unsigned long long, "l", ".u64", rounding, INTEGER)        \
    WARPBOOK_CONVERT(double, double, "d", ".f64", float, float, "f", ".f32", rounding, ROUNDING)                  \
    WARPBOOK_CONVERT(int, int, "r", ".s32", float, float, "f", ".f32", rounding, ROUNDING)                        \
    WARPBOOK_CONVERT(uint, unsigned int, "r", ".u32", float, float, "f", ".f32", rounding, ROUNDING)              \
    WARPBOOK_CONVERT(ll, long long, "l", ".s64", float, float, "f", ".f32", rounding, ROUNDING)                   \
    WARPBOOK_CONVERT(ull, unsigned long long, "l", ".u64", float, float, "f", ".f32", rounding, ROUNDING)         \
    WARPBOOK_CONVERT(ll, long long, "l", ".s64", double, double, "d", ".f64", rounding, ROUNDING)                 \
    WARPBOOK_CONVERT(ull, unsigned long long, "l", ".u64", double, double, "d", ".f64", rounding, ROUNDING)
WARPBOOK_CONVERSIONS(rn)
WARPBOOK_CONVERSIONS(rz)
WARPBOOK_CONVERSIONS(ru)
WARPBOOK_CONVERSIONS(rd)
#undef WARPBOOK_CONVERSIONS
#undef WARPBOOK_CONVERT
WARPBOOK_DEVICE double __int2double_rn(int a) { return a; }
WARPBOOK_DEVICE double __uint2double_rn(unsigned int a) { return a; }

WARPBOOK_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }
