// cvt into and out of packed and narrow formats (ISA, cvt and cvt.pack): two floats to f16x2 or
// bf16x2, the 8-bit formats e4m3 and e5m2, tf32, and cvt.pack of integers.
#include "emulator/alu/convert.h"

// ---- Two floats to one register of halves -----------------------------------------------------------------

typedef enum { CLAMP_NONE, CLAMP_RELU, CLAMP_FINITE, CLAMP_BOTH, CLAMPS } Clamp;

static Clamp clamp_of(const AluForm *f) {
    const bool relu = f->words & W(relu), finite = f->words & W(satfinite);
    return relu && finite ? CLAMP_BOTH : relu ? CLAMP_RELU : finite ? CLAMP_FINITE : CLAMP_NONE;
}

static inline double above_zero(double x, Clamp clamp) {
    return (clamp == CLAMP_RELU || clamp == CLAMP_BOTH) && x <= 0 ? 0.0 : x;
}
static inline uint32_t half_bits(double x, FloatFormat format, Rounding rounding, Clamp clamp) {
    const uint32_t bits = (uint32_t)rounded_double(above_zero(x, clamp), format, rounding, NAN_HALF);
    const uint32_t infinity = ((1u << format.exponent) - 1) << format.fraction;
    const bool finite = clamp == CLAMP_FINITE || clamp == CLAMP_BOTH;
    return finite && (bits & 0x7fffu) == infinity ? bits - 1 : bits;
}

// a is the upper half, b the lower.
#define PACK_HALVES(NAME, FORMAT, ROUNDING, CLAMP)                                                           \
    RARE_2(NAME, uint32_t, float, float,                                                                     \
           half_bits(a, FORMAT, ROUNDING, CLAMP) << 16 | half_bits(b, FORMAT, ROUNDING, CLAMP))
#define PACK_CLAMPS(NAME, FORMAT, ROUNDING)                                                                  \
    PACK_HALVES(NAME##_relu, FORMAT, ROUNDING, CLAMP_RELU)                                                   \
    PACK_HALVES(NAME##_finite, FORMAT, ROUNDING, CLAMP_FINITE)                                               \
    PACK_HALVES(NAME##_both, FORMAT, ROUNDING, CLAMP_BOTH)
ALU_2(f16x2_rn, uint32_t, float, float, (uint32_t)float_f16(a) << 16 | float_f16(b))
ALU_2(bf16x2_rn, uint32_t, float, float, (uint32_t)float_bf16(a) << 16 | float_bf16(b))
PACK_HALVES(f16x2_rz, FORMAT_F16, ROUND_ZERO, CLAMP_NONE)
PACK_HALVES(bf16x2_rz, FORMAT_BF16, ROUND_ZERO, CLAMP_NONE)
PACK_CLAMPS(f16x2_rn, FORMAT_F16, ROUND_NEAREST)
PACK_CLAMPS(f16x2_rz, FORMAT_F16, ROUND_ZERO)
PACK_CLAMPS(bf16x2_rn, FORMAT_BF16, ROUND_NEAREST)
PACK_CLAMPS(bf16x2_rz, FORMAT_BF16, ROUND_ZERO)
#define CLAMP_ROW(NAME)                                                                                      \
    { NAME, NAME##_relu, NAME##_finite, NAME##_both }

static bool two_floats(const AluForm *f, Selection *s) {
    static AluHandler *const f16x2[2][CLAMPS] = {CLAMP_ROW(f16x2_rn), CLAMP_ROW(f16x2_rz)};
    static AluHandler *const bf16x2[2][CLAMPS] = {CLAMP_ROW(bf16x2_rn), CLAMP_ROW(bf16x2_rz)};
    if (f->words & ~(W(rn) | W(rz) | W(relu) | W(satfinite))) return false;
    const Clamp clamp = clamp_of(f);
    const uint64_t rounding = f->words & ROUNDINGS;
    if (rounding != W(rn) && rounding != W(rz)) return false;
    return CHOOSE(s, (f->type == PTX_F16X2 ? f16x2 : bf16x2)[rounding == W(rz)][clamp], f->type, PTX_F32,
                  PTX_F32);
}

// ---- tf32: a float of 10 fraction bits in 32 --------------------------------------------------------------

// .rna rounds a tie away from zero, which adding half of the last place kept to the magnitude does.
static inline uint32_t tf32_away(float x) {
    const uint32_t bits = float_bits(x), magnitude = bits & 0x7fffffffu;
    // A NaN is cut off as any number is (seen on an H200), which may leave an infinity.
    return (magnitude >= 0x7f800000u ? bits : bits + 0x1000u) & ~0x1fffu;
}
static inline uint32_t tf32_bits(float x, Rounding rounding, Clamp clamp) {
    // Its fields lie at the top of the word: 13 bits below them are zero.
    const uint32_t bits =
        (uint32_t)rounded_double(above_zero(x, clamp), FORMAT_TF32, rounding, NAN_F32 >> 13);
    const bool finite = (clamp == CLAMP_FINITE || clamp == CLAMP_BOTH) && (bits & 0x3ffffu) == 0x3fc00u;
    return (finite ? bits - 1 : bits) << 13;
}
static inline uint32_t tf32_away_finite(float x) {
    const uint32_t bits = tf32_away(x);
    return (bits & 0x7fffffffu) >= 0x7f800000u ? bits - 0x2000u : bits; // of a NaN too, seen on an H200
}
RARE_1(tf32_rna, uint32_t, float, tf32_away(a))
RARE_1(tf32_rna_finite, uint32_t, float, tf32_away_finite(a))
#define TF32(NAME, ROUNDING)                                                                                 \
    ALU_SLOW_1(NAME, uint32_t, float, tf32_bits(a, ROUNDING, CLAMP_NONE))                                    \
    ALU_SLOW_1(NAME##_relu, uint32_t, float, tf32_bits(a, ROUNDING, CLAMP_RELU))                             \
    ALU_SLOW_1(NAME##_finite, uint32_t, float, tf32_bits(a, ROUNDING, CLAMP_FINITE))                         \
    ALU_SLOW_1(NAME##_both, uint32_t, float, tf32_bits(a, ROUNDING, CLAMP_BOTH))
TF32(tf32_rn, ROUND_NEAREST)
TF32(tf32_rz, ROUND_ZERO)

static bool to_tf32(const AluForm *f, Selection *s) {
    static AluHandler *const rn[CLAMPS] = CLAMP_ROW(tf32_rn), *const rz[CLAMPS] = CLAMP_ROW(tf32_rz);
    if (f->from != PTX_F32) return false;
    const Clamp clamp = clamp_of(f);
    AluHandler *handler = NULL;
    switch (f->words & ~(W(relu) | W(satfinite))) {
    case W(rna):
        if (clamp == CLAMP_NONE) handler = tf32_rna;
        if (clamp == CLAMP_FINITE) handler = tf32_rna_finite;
        break;
    case W(rn): handler = rn[clamp]; break;
    case W(rz): handler = rz[clamp]; break;
    default: break;
    }
    return CHOOSE(s, handler, PTX_B32, PTX_F32);
}

// ---- 8-bit floats -----------------------------------------------------------------------------------------

// e5m2 is half precision cut short. e4m3 has no infinity: its largest exponent holds numbers to 448 and,
// with all bits set, NaN. Rounded as if it had one more exponent bit, it comes out right below 448.
static inline uint32_t e5m2_bits(double x) {
    const uint32_t bits = (uint32_t)rounded_double(x, FORMAT_E5M2, ROUND_NEAREST, 0x7f);
    return (bits & 0x7fu) == 0x7cu ? bits - 1 : bits; // .satfinite
}
static inline uint32_t e4m3_bits(double x) {
    if (x != x) return 0x7f;
    const uint32_t sign = signbit(x) ? 0x80u : 0;
    const double magnitude = fabs(x);
    if (magnitude >= 448.0) return sign | 0x7eu;
    if (magnitude == 0) return sign;
    // Least normal 2^-6, least subnormal 2^-9: round to a multiple of the last place.
    int exponent;
    (void)frexp(magnitude, &exponent); // magnitude is in [2^(exponent - 1), 2^exponent)
    const int last = (exponent - 1 < -6 ? -6 : exponent - 1) - 3;
    const uint32_t count = (uint32_t)rint(ldexp(magnitude, -last)); // at most 16
    return sign | (((uint32_t)(last + 9) << 3) + count);
}
static inline uint32_t e4m3_to_f16(uint32_t bits) {
    const uint32_t sign = (bits & 0x80u) << 8, magnitude = bits & 0x7fu;
    if (magnitude == 0x7fu) return NAN_HALF;
    const uint32_t field = magnitude >> 3, fraction = magnitude & 7u;
    const double x = field ? ldexp(8 + (int)fraction, (int)field - 10) : ldexp((int)fraction, -9);
    return sign | (uint32_t)rounded_double(x, FORMAT_F16, ROUND_NEAREST, NAN_HALF);
}
static inline uint32_t e5m2_to_f16(uint32_t bits) {
    return (bits & 0x7fu) > 0x7cu ? NAN_HALF : (bits & 0xffu) << 8;
}

static inline double upper_half(uint32_t x) { return f16_float((uint16_t)(x >> 16)); }
static inline double lower_half(uint32_t x) { return f16_float((uint16_t)x); }
static inline uint32_t half_relu(uint32_t h) { return h & 0x8000u ? 0 : h; }

// Into 8 bits values are always clamped to the finite range: .satfinite is mandatory. a is the upper byte.
#define RELU(x) above_zero(x, CLAMP_RELU)
#define EIGHT_BITS(TYPE)                                                                                     \
    RARE_2(TYPE##_f32, uint16_t, float, float, TYPE##_bits(a) << 8 | TYPE##_bits(b))                         \
    RARE_2(TYPE##_f32_relu, uint16_t, float, float, TYPE##_bits(RELU(a)) << 8 | TYPE##_bits(RELU(b)))        \
    RARE_1(TYPE##_f16, uint16_t, uint32_t, TYPE##_bits(upper_half(a)) << 8 | TYPE##_bits(lower_half(a)))     \
    RARE_1(TYPE##_f16_relu, uint16_t, uint32_t,                                                              \
           TYPE##_bits(RELU(upper_half(a))) << 8 | TYPE##_bits(RELU(lower_half(a))))                         \
    RARE_1(f16_##TYPE, uint32_t, uint16_t, TYPE##_to_f16((uint32_t)a >> 8) << 16 | TYPE##_to_f16(a & 0xffu)) \
    RARE_1(f16_##TYPE##_relu, uint32_t, uint16_t,                                                            \
           half_relu(TYPE##_to_f16((uint32_t)a >> 8)) << 16 | half_relu(TYPE##_to_f16(a & 0xffu)))
EIGHT_BITS(e4m3)
EIGHT_BITS(e5m2)

static bool eight_bits(const AluForm *f, Selection *s) {
    const uint64_t formats = W(e4m3x2) | W(e5m2x2);
    const bool e4m3 = (f->words & formats) == W(e4m3x2), relu = f->words & W(relu),
               narrows = f->words & W(satfinite);
    if ((f->words & formats) == formats || f->from != f->type) return false;
    if ((f->words & ~(formats | W(relu) | W(satfinite))) != W(rn)) return false;
    if (narrows && f->type == PTX_F32) {
        AluHandler *const handlers[2][2] = {{e5m2_f32, e5m2_f32_relu}, {e4m3_f32, e4m3_f32_relu}};
        return CHOOSE(s, handlers[e4m3][relu], PTX_B16, PTX_F32, PTX_F32);
    }
    if (f->type != PTX_F16X2) return false;
    if (narrows) {
        AluHandler *const handlers[2][2] = {{e5m2_f16, e5m2_f16_relu}, {e4m3_f16, e4m3_f16_relu}};
        return CHOOSE(s, handlers[e4m3][relu], PTX_B16, PTX_F16X2);
    }
    AluHandler *const handlers[2][2] = {{f16_e5m2, f16_e5m2_relu}, {f16_e4m3, f16_e4m3_relu}};
    return CHOOSE(s, handlers[e4m3][relu], PTX_F16X2, PTX_B16);
}

// ---- cvt.pack: two integers clamped, put side by side, on top of what c held (ISA, cvt.pack) -----------

static inline uint32_t clamped(int32_t x, int32_t low, int32_t high) {
    return (uint32_t)(x < low ? low : x > high ? high : x);
}
#define PACK_16(NAME, LOW, HIGH)                                                                             \
    RARE_2(NAME, uint32_t, int32_t, int32_t, clamped(a, LOW, HIGH) << 16 | (clamped(b, LOW, HIGH) & 0xffffu))
#define PACK_8(NAME, LOW, HIGH)                                                                              \
    RARE_3(NAME, uint32_t, int32_t, int32_t, uint32_t,                                                       \
           c << 16 | (clamped(a, LOW, HIGH) & 0xffu) << 8 | (clamped(b, LOW, HIGH) & 0xffu))
PACK_16(pack_u16, 0, UINT16_MAX)
PACK_16(pack_s16, INT16_MIN, INT16_MAX)
PACK_8(pack_u8, 0, UINT8_MAX)
PACK_8(pack_s8, INT8_MIN, INT8_MAX)

static bool pack_integers(const AluForm *f, Selection *s) {
    if (f->words != (W(pack) | W(sat)) || f->from != PTX_S32) return false;
    const bool has_third = f->third == PTX_B32;
    if (!has_third && f->third != PTX_NO_TYPE) return false;
    switch (f->type) {
    case PTX_U16: return !has_third && CHOOSE(s, pack_u16, PTX_B32, PTX_S32, PTX_S32);
    case PTX_S16: return !has_third && CHOOSE(s, pack_s16, PTX_B32, PTX_S32, PTX_S32);
    case PTX_U8: return has_third && CHOOSE(s, pack_u8, PTX_B32, PTX_S32, PTX_S32, PTX_B32);
    case PTX_S8: return has_third && CHOOSE(s, pack_s8, PTX_B32, PTX_S32, PTX_S32, PTX_B32);
    default: return false;
    }
}

bool convert_packed(const AluForm *f, Selection *s) {
    if (f->words & W(pack)) return pack_integers(f, s);
    if (f->words & (W(e4m3x2) | W(e5m2x2))) return eight_bits(f, s);
    if (f->type == PTX_TF32) return to_tf32(f, s);
    if ((f->type == PTX_F16X2 || f->type == PTX_BF16X2) && f->from == PTX_F32) return two_floats(f, s);
    return false;
}
