// What the special function unit of an H200 (MUFU in machine code) gives for ex2, lg2, rcp, rsqrt and sqrt of
// .f32, to the last bit. The leading bits of the operand choose a quadratic polynomial, and x are the 17 bits
// that follow:
//     constant * 2^scale + offset + linear * x + square * squared(x)
// is an exact integer, whose last bits are cut off. The coefficients, the offsets and the squarer were found
// with an H200's results for all mantissas; tests/hardware_truth/README.md says how they are checked.
// Subnormal operands count as zeros, and subnormal results are zeros.
#pragma once

#include "emulator/alu/float_lanes.h"

typedef struct {
    int32_t constant, linear, square;
} Quadratic;
extern const Quadratic ex2_quadratics[64], lg2_quadratics[64], rcp_quadratics[128], rsqrt_quadratics[128],
    sqrt_quadratics[128];

// x * x without the partial products of bits whose places add up to less than 18, divided by 2^19.
static inline int32_t squared(uint32_t x) {
    uint32_t sum = 0;
    for (unsigned j = 10; j < 17; j++) {
        const uint32_t below = x & ((1u << j) - 1u);
        sum += -(x >> j & 1u) & ((below >> (18 - j)) + (1u << (2 * j - 19)));
    }
    return (int32_t)sum;
}

static inline int64_t quadratic(const Quadratic *q, unsigned scale, int offset, uint32_t x) {
    return (int64_t)q->constant * (1 << scale) + offset + (int64_t)q->linear * x + q->square * squared(x);
}

static inline int32_t biased_exponent(float x) { return (int32_t)(float_bits(x) >> 23 & 255u); }
static inline float with_sign_of(uint32_t bits, float x) {
    return bits_float(bits | (float_bits(x) & 0x80000000u));
}

// 2^x. The operand is cut to 23 bits after the point. A negative one with a fraction is the complement of
// these bits, and so 2^-23 less than it should be.
static inline float special_ex2(float x) {
    const float magnitude = fabsf(x) < 255.0f ? fabsf(x) : 255.0f; // and NaN
    const int32_t cut = (int32_t)(magnitude * 0x1p23f), fraction = cut & 0x7fffff;
    const int32_t point = x < 0.0f ? (fraction ? ~cut : -cut) : cut;
    const uint32_t below = (uint32_t)point & 0x7fffffu;
    const int32_t mantissa =
        (int32_t)(quadratic(&ex2_quadratics[below >> 17], 12, 2018, below & 0x1ffffu) >> 15);
    const int32_t exponent = (point >> 23) + 127;
    uint32_t bits = ((uint32_t)exponent << 23) + (uint32_t)mantissa;
    bits = exponent < 1 ? 0 : exponent > 254 ? 0x7f800000u : bits;
    return bits_float(x != x ? NAN_F32 : bits);
}

// The logarithm to base 2: the exponent and 36 bits after the point, of which a float keeps the first 24. If
// the sum is negative, its complement is what counts. Only 1 itself has the result 0.
static inline float special_lg2(float x) {
    const uint32_t bits = float_bits(x), below = bits & 0x7fffffu;
    const int32_t exponent = biased_exponent(x);
    const int64_t sum = (int64_t)(exponent - 127) * (INT64_C(1) << 36) +
                        (quadratic(&lg2_quadratics[below >> 17], 12, 837, below & 0x1ffffu) >> 2);
    const double magnitude = (double)(sum < 0 ? ~sum : sum); // exact
    const double kept = bits_double(double_bits(magnitude) & ~UINT64_C(0x1fffffff));
    const float finite = (float)(sum < 0 ? -kept : kept) * 0x1p-36f;
    const uint32_t end = exponent == 0 ? 0xff800000u : x > 0.0f ? 0x7f800000u : NAN_F32;
    return exponent == 0 || exponent == 255 || x < 0.0f ? bits_float(end) : x == 1.0f ? 0.0f : finite;
}

static inline float special_rcp(float x) {
    const uint32_t below = float_bits(x) & 0x7fffffu;
    const int32_t exponent = biased_exponent(x);
    const int32_t mantissa =
        (int32_t)(quadratic(&rcp_quadratics[below >> 16], 13, 4046, (below & 0xffffu) << 1) >> 16);
    const int32_t bits = (253 - exponent) * (1 << 23) + mantissa;
    const uint32_t finite = bits < 0x800000 ? 0u : (uint32_t)bits;
    return x != x ? bits_float(NAN_F32) : with_sign_of(exponent ? finite : 0x7f800000u, x);
}

// Only even powers of 2 have an exact result.
static inline float special_rsqrt(float x) {
    const int32_t exponent = biased_exponent(x), half = (exponent - 127) >> 1;
    const uint32_t below = (float_bits(x) & 0x7fffffu) | (uint32_t)(~exponent & 1) << 23;
    const int32_t mantissa =
        (int32_t)(quadratic(&rsqrt_quadratics[below >> 17], 14, -1, below & 0x1ffffu) >> 16);
    const int32_t bits = (126 - half) * (1 << 23) + (below ? mantissa : 1 << 23);
    const uint32_t positive = exponent == 255 ? 0u : (uint32_t)bits;
    if (exponent == 0) return with_sign_of(0x7f800000u, x);
    return x >= 0.0f ? bits_float(positive) : bits_float(NAN_F32);
}

static inline float special_sqrt(float x) {
    const int32_t exponent = biased_exponent(x), half = (exponent - 127) >> 1;
    const uint32_t below = (float_bits(x) & 0x7fffffu) | (uint32_t)(~exponent & 1) << 23;
    const int32_t mantissa =
        (int32_t)(quadratic(&sqrt_quadratics[below >> 17], 15, -1, below & 0x1ffffu) >> 17);
    const int32_t bits = (127 + half) * (1 << 23) + mantissa;
    const uint32_t positive = exponent == 255 ? 0x7f800000u : (uint32_t)bits;
    if (exponent == 0) return zero_of_sign(x);
    return x >= 0.0f ? bits_float(positive) : bits_float(NAN_F32);
}
