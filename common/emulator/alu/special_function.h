// What the special function unit of an H200 (MUFU in machine code) gives for ex2, lg2, rcp, rsqrt and sqrt of
// .f32, to the last bit. The leading bits of the operand choose a quadratic polynomial, and x are the 17 bits
// that follow:
//     constant * 2^scale + offset + linear * x + square * squared(x)
// is an exact integer, whose last bits are cut off. The coefficients, the offsets and the squarer were found
// with an H200's results for all mantissas; tests/hardware_truth/README.md says how they are checked.
// Subnormal operands count as zeros, and subnormal results are zeros.
#pragma once

#include "emulator/alu/float_lanes.h"

// By the leading bits. (Each coefficient has its array: compilers load from that for many lanes at once.)
typedef struct {
    int32_t constant[128], linear[128], square[128];
} Quadratics;
extern const Quadratics ex2_quadratics, lg2_quadratics, rcp_quadratics, rsqrt_quadratics, sqrt_quadratics;

// x * x without the partial products of bits whose places add up to less than 18, divided by 2^19. Of the
// products of two of the 7 leading bits none is missing, and of two of the 10 others all are.
static inline int32_t squared(int32_t leading, int32_t others) {
#define PART(J) (-(leading >> (J)&1) & others >> (8 - (J)))
    return 2 * leading * leading + PART(0) + PART(1) + PART(2) + PART(3) + PART(4) + PART(5) + PART(6);
#undef PART
}

// The polynomial as upper * 2^10 + lower: neither takes more than 32 bits.
typedef struct {
    int32_t upper, lower;
} Value;

static inline Value quadratic(const Quadratics *q, uint32_t which, unsigned scale, int offset, uint32_t x) {
    const int32_t leading = (int32_t)(x >> 10), others = (int32_t)(x & 0x3ffu);
    return (Value){.upper = q->constant[which] * (1 << (scale - 10)) + q->linear[which] * leading,
                   .lower = q->linear[which] * others + q->square[which] * squared(leading, others) + offset};
}
// Without its last `cut` bits.
static inline int32_t cut_off(Value v, unsigned cut) { return (v.upper + (v.lower >> 10)) >> (cut - 10); }

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
    const int32_t mantissa = cut_off(quadratic(&ex2_quadratics, below >> 17, 12, 2018, below & 0x1ffffu), 15);
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
    const Value fraction = quadratic(&lg2_quadratics, below >> 17, 12, 837, below & 0x1ffffu);
    const double sum = // exact, as is all but the last step
        (double)(exponent - 127) * 0x1p36 + (double)fraction.upper * 256.0 + (double)(fraction.lower >> 2);
    const double nearer = sum + (sum < 0.0 ? 1.0 : 0.0); // the complement, negated
    const double kept = bits_double(double_bits(nearer) & ~UINT64_C(0x1fffffff));
    const float finite = (float)kept * 0x1p-36f;
    const bool is_finite = exponent && bits < 0x7f800000u && bits != 0x3f800000u;
    const uint32_t of_normal = bits > 0x7f800000u ? NAN_F32 : bits == 0x7f800000u ? bits : 0;
    const uint32_t end = exponent ? of_normal : 0xff800000u;
    return bits_float((-(uint32_t)is_finite & float_bits(finite)) | (is_finite ? 0 : end));
}

static inline float special_rcp(float x) {
    const uint32_t below = float_bits(x) & 0x7fffffu;
    const int32_t exponent = biased_exponent(x);
    const int32_t mantissa =
        cut_off(quadratic(&rcp_quadratics, below >> 16, 13, 4046, (below & 0xffffu) << 1), 16);
    const int32_t bits = (253 - exponent) * (1 << 23) + mantissa;
    const uint32_t finite = bits < 0x800000 ? 0u : (uint32_t)bits;
    return x != x ? bits_float(NAN_F32) : with_sign_of(exponent ? finite : 0x7f800000u, x);
}

// Only even powers of 2 have an exact result.
static inline float special_rsqrt(float x) {
    const int32_t exponent = biased_exponent(x), half = (exponent - 127) >> 1;
    const uint32_t below = (float_bits(x) & 0x7fffffu) | (uint32_t)(~exponent & 1) << 23;
    const int32_t mantissa = cut_off(quadratic(&rsqrt_quadratics, below >> 17, 14, -1, below & 0x1ffffu), 16);
    const int32_t bits = (126 - half) * (1 << 23) + (below ? mantissa : 1 << 23);
    const uint32_t positive = exponent == 255 ? 0u : (uint32_t)bits;
    const uint32_t infinity = (float_bits(x) & 0x80000000u) | 0x7f800000u;
    const uint32_t finite = x >= 0.0f ? positive : NAN_F32;
    return bits_float(exponent ? finite : infinity);
}

static inline float special_sqrt(float x) {
    const int32_t exponent = biased_exponent(x), half = (exponent - 127) >> 1;
    const uint32_t below = (float_bits(x) & 0x7fffffu) | (uint32_t)(~exponent & 1) << 23;
    const int32_t mantissa = cut_off(quadratic(&sqrt_quadratics, below >> 17, 15, -1, below & 0x1ffffu), 17);
    const int32_t bits = (127 + half) * (1 << 23) + mantissa;
    const uint32_t positive = exponent == 255 ? 0x7f800000u : (uint32_t)bits;
    const uint32_t zero = float_bits(x) & 0x80000000u;
    const uint32_t finite = x >= 0.0f ? positive : NAN_F32;
    return bits_float(exponent ? finite : zero);
}
