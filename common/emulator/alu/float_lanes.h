// Floating-point pieces that several arithmetic files share: bit views, canonical NaNs, flushing,
// saturation, ordering, and exact rounding to any IEEE format. All are written without branches where
// it matters, so that loops over them vectorise.
#pragma once

#include <math.h>

#include "emulator/alu/alu.h"

static inline uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float bits_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint64_t double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double bits_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// The NaNs that single and half precision instructions produce (ISA, Floating Point and Half Precision
// Instructions).
#define NAN_F32 0x7fffffffu
#define NAN_F64 UINT64_C(0xfff8000000000000)
#define NAN_HALF 0x7fffu // .f16 and .bf16 alike

static inline float canonical(float x) { return x != x ? bits_float(NAN_F32) : x; }

// A double's NaN result is that of an operand, made quiet, or NAN_F64 when no operand is NaN. The ISA leaves
// open which operand; an H200 prefers b, then c, then a.
static inline double quiet(double x) { return bits_double(double_bits(x) | UINT64_C(1) << 51); }
static inline double with_nan_of(double result, double a, double b, double c) {
    const double nan = b != b ? b : c != c ? c : a;
    return result == result ? result : nan != nan ? quiet(nan) : bits_double(NAN_F64);
}

// .ftz: a subnormal becomes a zero of its sign.
static inline float flush(float x) {
    const uint32_t bits = float_bits(x);
    return bits_float(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}
static inline float zero_of_sign(float x) { return bits_float(float_bits(x) & 0x80000000u); }
static inline float keep(float x) { return x; }

// .sat: to [0, 1]; NaN and -0 become +0.
static inline float saturated(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline double saturated_double(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

// Integers in the order of the floats, -0 below +0; NaNs lie outside the infinities.
static inline int32_t float_order(float x) {
    const int32_t bits = (int32_t)float_bits(x);
    return bits ^ (bits >> 31 & INT32_MAX);
}
static inline int64_t double_order(double x) {
    const int64_t bits = (int64_t)double_bits(x);
    return bits ^ (bits >> 63 & INT64_MAX);
}

// ---- Rounding to a format ---------------------------------------------------------------------------------

typedef struct {
    int fraction, exponent; // bits
} FloatFormat;
#define FORMAT_F64 ((FloatFormat){52, 11})
#define FORMAT_F32 ((FloatFormat){23, 8})
#define FORMAT_TF32 ((FloatFormat){10, 8})
#define FORMAT_BF16 ((FloatFormat){7, 8})
#define FORMAT_F16 ((FloatFormat){10, 5})
#define FORMAT_E5M2 ((FloatFormat){2, 5})

// In format.c: for the conversions that do not vectorise.
// The bits of (negative ? -1 : 1) * m * 2^exponent rounded to `format`, for m > 0: subnormals exact,
// overflow to infinity or to the largest finite value as the rounding direction has it (IEEE 754, 4.3).
uint64_t rounded_bits(bool negative, uint64_t m, int exponent, FloatFormat format, Rounding rounding);
// A double, rounded to `format`; NaN becomes `nan`.
uint64_t rounded_double(double x, FloatFormat format, Rounding rounding, uint64_t nan);

// Whether .ftz flushes a result whose exact value is x (or x rounded to double in the same direction, or to
// odd). As seen on an H200, what counts is the value rounded to the format's precision with no bound on the
// exponent: a product just below the least normal number becomes zero although rounding to a subnormal would
// have carried it up to that number. Sums need no such care: those so small are exact.
static inline bool tiny_f32(double x, Rounding rounding) {
    const double magnitude = fabs(x);
    if (rounding == ROUND_NEAREST) return magnitude < 0x1.ffffffp-127;
    const bool away = rounding == (x > 0 ? ROUND_UP : ROUND_DOWN);
    return away ? magnitude <= 0x1.fffffep-127 : magnitude < 0x1p-126;
}

// ---- Half precision ---------------------------------------------------------------------------------------

// Exact: shifting the bits into place leaves a float 2^-112 times too small, subnormals included.
static inline float f16_float(uint16_t h) {
    const uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13, sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t finite = float_bits(bits_float(magnitude) * 0x1p112f);
    return bits_float(sign | (magnitude >= 0x7c00u << 13 ? magnitude | 0x7f800000u : finite));
}
static inline float bf16_float(uint16_t h) { return bits_float((uint32_t)h << 16); }

// To nearest even. Adding 1/2 to a value below 2^-14 aligns it to half precision's subnormals, and the
// adder rounds; a larger value is rounded in its bits, which carries into the exponent as it should.
static inline uint16_t float_f16(float x) {
    const uint32_t bits = float_bits(x), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    const uint32_t small = float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    uint32_t result = magnitude < 113u << 23 ? small : normal;
    result = magnitude >= 0x477ff000u ? 0x7c00u : result; // 65520 and above
    result |= sign;
    return (uint16_t)(magnitude > 0x7f800000u ? NAN_HALF : result);
}
// The same with .ftz, for x that is exact or rounded to odd: see tiny_f32().
static inline uint16_t float_f16_flushed(float x) {
    return (uint16_t)(fabsf(x) < 0x1.ffep-15f ? float_bits(x) >> 16 & 0x8000u : float_f16(x));
}
static inline uint16_t float_bf16(float x) {
    const uint32_t bits = float_bits(x);
    const uint32_t result = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)(x != x ? NAN_HALF : result);
}

// Double to float, rounding to odd: an inexact result takes the neighbour whose last bit is 1, so that
// rounding it again to a format at least two bits narrower is the same as rounding once.
static inline float float_odd(double x) {
    const float nearest = (float)x;
    const uint32_t bits = float_bits(nearest);
    const bool adjust = (double)nearest != x && !(bits & 1u) && x == x;
    const uint32_t step = fabs((double)nearest) < fabs(x) ? 1u : UINT32_MAX;
    return bits_float(adjust ? bits + step : bits);
}
// x + y rounded to odd in single precision (the error of a sum is a float: Knuth's TwoSum).
static inline float sum_odd(float x, float y) {
    const float sum = x + y, part = sum - x;
    const float error = (x - (sum - part)) + (y - part);
    const uint32_t bits = float_bits(sum);
    const bool adjust = error != 0.0f && !(bits & 1u) && fabsf(sum) <= 0x1.fffffep127f;
    const uint32_t step = (error > 0.0f) == (sum > 0.0f) ? 1u : UINT32_MAX;
    return bits_float(adjust ? bits + step : bits);
}
// The same in double precision.
static inline double sum_odd_double(double x, double y) {
    const double sum = x + y, part = sum - x;
    const double error = (x - (sum - part)) + (y - part);
    const uint64_t bits = double_bits(sum);
    const bool adjust = error != 0.0 && !(bits & 1u) && fabs(sum) <= 0x1.fffffffffffffp1023;
    const uint64_t step = (error > 0.0) == (sum > 0.0) ? 1u : UINT64_MAX;
    return bits_double(adjust ? bits + step : bits);
}

static inline uint16_t flush_f16(uint16_t h) { return (uint16_t)(h & 0x7c00u ? h : h & 0x8000u); }
static inline uint16_t flush_bf16(uint16_t h) { return (uint16_t)(h & 0x7f80u ? h : h & 0x8000u); }

// ---- Directed rounding: rounding.c --------------------------------------------------------------------

typedef enum {
    ROUNDED_ADD,
    ROUNDED_SUB,
    ROUNDED_MUL,
    ROUNDED_FMA,
    ROUNDED_DIV,
    ROUNDED_RCP,
    ROUNDED_SQRT,
    ROUNDED_OPERATIONS
} RoundedOperation;
typedef struct {
    AluHandler *f32[4]; // by 2 * ftz + sat
    AluHandler *f64;
} RoundedForms;
// By operation and Rounding; the entries of ROUND_NEAREST are empty (float.c has them).
extern const RoundedForms rounded_forms[ROUNDED_OPERATIONS][ROUND_MODES];
