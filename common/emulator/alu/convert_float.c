// cvt between floating-point types of one value: f16, bf16, f32 and f64 (ISA, cvt).
#include "emulator/alu/convert.h"

// ---- To f32 and f64 ---------------------------------------------------------------------------------------

// A NaN of a double keeps its sign and the upper bits of its payload, and becomes quiet (seen on an H200; the
// ISA says only that it is a NaN).
static inline uint32_t narrowed_nan(double x, FloatFormat format) {
    const uint64_t bits = double_bits(x);
    const uint32_t sign = (uint32_t)(bits >> 63) << (format.fraction + format.exponent);
    const uint32_t infinity = ((1u << format.exponent) - 1) << format.fraction,
                   quiet_bit = 1u << (format.fraction - 1);
    const uint32_t payload = (uint32_t)(bits >> (52 - format.fraction)) & ((1u << format.fraction) - 1);
    return sign | infinity | quiet_bit | payload;
}
static inline float nearest_float(double x) {
    return x != x ? bits_float(narrowed_nan(x, FORMAT_F32)) : (float)x;
}
static inline float rounded_float(double x, Rounding rounding) {
    return bits_float((uint32_t)rounded_double(x, FORMAT_F32, rounding, narrowed_nan(x, FORMAT_F32)));
}
static inline double widened(float x) { return x != x ? quiet((double)x) : (double)x; }
static inline float flushed(float rounded, double x, Rounding rounding) {
    return tiny_f32(x, rounding) ? zero_of_sign(rounded) : rounded;
}

// f32 from f64, by rounding; the plain forms to nearest vectorise.
#define NARROW_FORMS(M, MODE, F, ROUNDING)                                                                   \
    M(f32_f64_##MODE, float, double, F(a))                                                                   \
    RARE_1(f32_f64_##MODE##_sat, float, double, saturated(F(a)))                                             \
    RARE_1(f32_f64_##MODE##_ftz, float, double, flushed(F(a), a, ROUNDING))                                  \
    RARE_1(f32_f64_##MODE##_ftz_sat, float, double, saturated(flushed(F(a), a, ROUNDING)))
#define ROUNDED_ZERO(x) rounded_float(x, ROUND_ZERO)
#define ROUNDED_DOWN(x) rounded_float(x, ROUND_DOWN)
#define ROUNDED_UP(x) rounded_float(x, ROUND_UP)
NARROW_FORMS(ALU_1, rn, nearest_float, ROUND_NEAREST)
NARROW_FORMS(RARE_1, rz, ROUNDED_ZERO, ROUND_ZERO)
NARROW_FORMS(RARE_1, rm, ROUNDED_DOWN, ROUND_DOWN)
NARROW_FORMS(RARE_1, rp, ROUNDED_UP, ROUND_UP)
#define FTZ_SAT_ROW(NAME)                                                                                    \
    { NAME, NAME##_sat, NAME##_ftz, NAME##_ftz_sat }
static AluHandler *const f32_f64[ROUND_MODES][4] = {FTZ_SAT_ROW(f32_f64_rn), FTZ_SAT_ROW(f32_f64_rz),
                                                    FTZ_SAT_ROW(f32_f64_rm), FTZ_SAT_ROW(f32_f64_rp)};

// Widening is exact. ALL_FORMS: plain, .sat, .ftz and both.
#define WIDEN_FORMS(NAME, D, A, READ, SATURATED, FLUSHED, FINISH)                                            \
    ALU_1(NAME, D, A, FINISH(READ(a)))                                                                       \
    RARE_1(NAME##_sat, D, A, SATURATED(READ(a)))                                                             \
    RARE_1(NAME##_ftz, D, A, FINISH(FLUSHED(READ(a))))                                                       \
    RARE_1(NAME##_ftz_sat, D, A, SATURATED(FLUSHED(READ(a))))                                                \
    static AluHandler *const NAME##_forms[4] = FTZ_SAT_ROW(NAME);
// With .ftz a value passes an arithmetic unit first, which makes a NaN canonical.
#define FLUSHED_CANONICAL(x) canonical(flush(x))
WIDEN_FORMS(f64_f32, double, float, , saturated, FLUSHED_CANONICAL, widened)
WIDEN_FORMS(f64_f16, double, uint16_t, f16_float, saturated, keep, widened)
WIDEN_FORMS(f64_bf16, double, uint16_t, bf16_float, saturated, keep, widened)
WIDEN_FORMS(f32_f16, float, uint16_t, f16_float, saturated, keep, canonical)
WIDEN_FORMS(f32_bf16, float, uint16_t, bf16_float, saturated, FLUSHED_CANONICAL,
            keep) // a shift: NaNs stay as they are

// Within one type a rounding is to an integral value; row ROUND_MODES does not round, and is a mere move
// if there is nothing else to do.
#define integral_none(x) (x)
#define canonical_none(x) (x)
#define canonical_nearest canonical
#define canonical_zero canonical
#define canonical_down canonical
#define canonical_up canonical
#define SAME_F32(MODE)                                                                                       \
    RARE_1(f32_f32_##MODE, float, float, canonical_##MODE((float)integral_##MODE(a)))                        \
    RARE_1(f32_f32_##MODE##_sat, float, float, saturated((float)integral_##MODE(a)))                         \
    RARE_1(f32_f32_##MODE##_ftz, float, float, canonical((float)integral_##MODE(flush(a))))                  \
    RARE_1(f32_f32_##MODE##_ftz_sat, float, float, saturated((float)integral_##MODE(flush(a))))
#define SAME_F64(MODE)                                                                                       \
    RARE_1(f64_f64_##MODE, double, double, integral_##MODE(a))                                               \
    RARE_1(f64_f64_##MODE##_sat, double, double, saturated_double(integral_##MODE(a)))
#define SAME_HALF(TYPE, MODE)                                                                                \
    ALU_SLOW_1(TYPE##_##TYPE##_##MODE, uint16_t, uint16_t,                                                   \
               float_##TYPE((float)integral_##MODE(TYPE##_float(a))))                                        \
    ALU_SLOW_1(TYPE##_##TYPE##_##MODE##_sat, uint16_t, uint16_t,                                             \
               float_##TYPE(saturated((float)integral_##MODE(TYPE##_float(a)))))
#define EACH_MODE(M) M(nearest) M(zero) M(down) M(up) M(none)
#define SAME_F16(MODE) SAME_HALF(f16, MODE)
#define SAME_BF16(MODE) SAME_HALF(bf16, MODE)
EACH_MODE(SAME_F32)
EACH_MODE(SAME_F64)
EACH_MODE(SAME_F16)
EACH_MODE(SAME_BF16)
static AluHandler *const f32_f32[ROUND_MODES + 1][4] = {FTZ_SAT_ROW(f32_f32_nearest),
                                                        FTZ_SAT_ROW(f32_f32_zero), FTZ_SAT_ROW(f32_f32_down),
                                                        FTZ_SAT_ROW(f32_f32_up), FTZ_SAT_ROW(f32_f32_none)};
#define SAT_ROW(NAME)                                                                                        \
    { NAME, NAME##_sat }
#define SAT_ROWS(NAME)                                                                                       \
    {                                                                                                        \
        SAT_ROW(NAME##_nearest), SAT_ROW(NAME##_zero), SAT_ROW(NAME##_down), SAT_ROW(NAME##_up),             \
            SAT_ROW(NAME##_none)                                                                             \
    }
static AluHandler *const f64_f64[ROUND_MODES + 1][2] = SAT_ROWS(f64_f64);
static AluHandler *const f16_f16[ROUND_MODES + 1][2] = SAT_ROWS(f16_f16);
static AluHandler *const bf16_bf16[ROUND_MODES + 1][2] = SAT_ROWS(bf16_bf16);

// ---- To half precision ------------------------------------------------------------------------------------

typedef enum {
    FINISH_PLAIN,
    FINISH_SAT,
    FINISH_RELU,
    FINISH_SATFINITE,
    FINISH_RELU_SATFINITE,
    FINISHES
} Finish;

// x rounded to a half format, then clamped: .sat to [0, 1] with NaN to 0, .relu to at least +0,
// .satfinite to the largest finite magnitude.
static inline uint16_t finished(double x, FloatFormat format, Rounding rounding, Finish finish,
                                uint32_t nan) {
    if (finish == FINISH_SAT) x = saturated_double(x);
    if ((finish == FINISH_RELU || finish == FINISH_RELU_SATFINITE) && x <= 0) x = 0;
    const uint32_t bits = (uint32_t)rounded_double(x, format, rounding, nan);
    const uint32_t infinity = ((1u << format.exponent) - 1) << format.fraction;
    const bool clamps = finish == FINISH_SATFINITE || finish == FINISH_RELU_SATFINITE;
    return (uint16_t)(clamps && (bits & 0x7fffu) == infinity ? bits - 1 : bits);
}

// NAN is what a NaN becomes: of a double it keeps its payload.
#define HALF(NAME, A, READ, FORMAT, ROUNDING, FINISH, NAN)                                                   \
    ALU_SLOW_1(NAME, uint16_t, A, finished(READ(a), FORMAT, ROUNDING, FINISH, NAN))
#define HALF_TABLE(NAME, A, READ, FORMAT, FINISH, NAN)                                                       \
    HALF(NAME##_rn, A, READ, FORMAT, ROUND_NEAREST, FINISH, NAN)                                             \
    HALF(NAME##_rz, A, READ, FORMAT, ROUND_ZERO, FINISH, NAN)                                                \
    HALF(NAME##_rm, A, READ, FORMAT, ROUND_DOWN, FINISH, NAN)                                                \
    HALF(NAME##_rp, A, READ, FORMAT, ROUND_UP, FINISH, NAN)                                                  \
    static AluHandler *const NAME[ROUND_MODES] = {NAME##_rn, NAME##_rz, NAME##_rm, NAME##_rp};
HALF_TABLE(f16_f64, double, , FORMAT_F16, FINISH_PLAIN, narrowed_nan(a, FORMAT_F16))
HALF_TABLE(f16_f32, float, , FORMAT_F16, FINISH_PLAIN, NAN_HALF)
HALF_TABLE(f16_bf16, uint16_t, bf16_float, FORMAT_F16, FINISH_PLAIN, NAN_HALF)
HALF_TABLE(f16_f64_sat, double, , FORMAT_F16, FINISH_SAT, 0)
HALF_TABLE(f16_f32_sat, float, , FORMAT_F16, FINISH_SAT, 0)
HALF_TABLE(f16_bf16_sat, uint16_t, bf16_float, FORMAT_F16, FINISH_SAT, 0)
HALF_TABLE(bf16_f64, double, , FORMAT_BF16, FINISH_PLAIN, narrowed_nan(a, FORMAT_BF16))
HALF_TABLE(bf16_f32, float, , FORMAT_BF16, FINISH_PLAIN, NAN_HALF)
HALF_TABLE(bf16_f32_ftz, float, flush, FORMAT_BF16, FINISH_PLAIN, NAN_HALF)
HALF_TABLE(bf16_f16, uint16_t, f16_float, FORMAT_BF16, FINISH_PLAIN, NAN_HALF)

// .relu and .satfinite are for f32 sources and .rn and .rz.
#define CLAMPED(NAME, FORMAT, ROUNDING)                                                                      \
    HALF(NAME##_relu, float, , FORMAT, ROUNDING, FINISH_RELU, NAN_HALF)                                      \
    HALF(NAME##_satfinite, float, , FORMAT, ROUNDING, FINISH_SATFINITE, NAN_HALF)                            \
    HALF(NAME##_both, float, , FORMAT, ROUNDING, FINISH_RELU_SATFINITE, NAN_HALF)                            \
    static AluHandler *const NAME[FINISHES] = {[FINISH_RELU] = NAME##_relu,                                  \
                                               [FINISH_SATFINITE] = NAME##_satfinite,                        \
                                               [FINISH_RELU_SATFINITE] = NAME##_both};
CLAMPED(f16_clamped_rn, FORMAT_F16, ROUND_NEAREST)
CLAMPED(f16_clamped_rz, FORMAT_F16, ROUND_ZERO)
CLAMPED(bf16_clamped_rn, FORMAT_BF16, ROUND_NEAREST)
CLAMPED(bf16_clamped_rz, FORMAT_BF16, ROUND_ZERO)

// The two that kernels are full of, so that they vectorise.
ALU_1(nearest_f16_f32, uint16_t, float, float_f16(a))
ALU_1(nearest_bf16_f32, uint16_t, float, float_bf16(a))

static AluHandler *to_half_clamped(const AluForm *f, Rounding rounding) {
    const bool to_f16 = f->type == PTX_F16, relu = f->words & W(relu), finite = f->words & W(satfinite);
    if (f->from != PTX_F32 || f->words & (W(ftz) | W(sat)) || rounding > ROUND_ZERO) return NULL;
    const Finish finish = relu && finite ? FINISH_RELU_SATFINITE : relu ? FINISH_RELU : FINISH_SATFINITE;
    if (rounding == ROUND_NEAREST) return (to_f16 ? f16_clamped_rn : bf16_clamped_rn)[finish];
    return (to_f16 ? f16_clamped_rz : bf16_clamped_rz)[finish];
}

static AluHandler *to_half(const AluForm *f, Rounding rounding) {
    const bool to_f16 = f->type == PTX_F16, ftz = f->words & W(ftz), sat = f->words & W(sat);
    if (f->words & (W(relu) | W(satfinite))) return to_half_clamped(f, rounding);
    if ((ftz && f->from != PTX_F32) || (sat && !to_f16)) return NULL;
    switch (f->from) {
    case PTX_F64: return (sat ? f16_f64_sat : to_f16 ? f16_f64 : bf16_f64)[rounding];
    case PTX_F32:
        // To f16, a subnormal f32 only decides the direction of rounding, and .ftz does not change that.
        if (ftz && !to_f16) return bf16_f32_ftz[rounding];
        if (sat) return f16_f32_sat[rounding];
        if (rounding == ROUND_NEAREST) return to_f16 ? nearest_f16_f32 : nearest_bf16_f32;
        return (to_f16 ? f16_f32 : bf16_f32)[rounding];
    case PTX_F16: return bf16_f16[rounding];
    case PTX_BF16: return (sat ? f16_bf16_sat : f16_bf16)[rounding];
    default: return NULL;
    }
}

// ---- The choice -------------------------------------------------------------------------------------------

static AluHandler *same_type(const AluForm *f) {
    Rounding integral = ROUND_MODES;
    if (f->words & ROUNDINGS) return NULL;
    if (f->words & INTEGER_ROUNDINGS && !alu_integral_rounding(f, &integral)) return NULL;
    const bool ftz = f->words & W(ftz), sat = f->words & W(sat);
    if (f->type == PTX_F32) return f32_f32[integral][2 * ftz + sat];
    if (ftz) return NULL;
    switch (f->type) {
    case PTX_F64: return f64_f64[integral][sat];
    case PTX_F16: return f16_f16[integral][sat];
    case PTX_BF16: return bf16_bf16[integral][sat];
    default: return NULL;
    }
}

static AluHandler *widening(const AluForm *f) {
    const bool ftz = f->words & W(ftz), sat = f->words & W(sat);
    if (f->words & (ROUNDINGS | INTEGER_ROUNDINGS)) return NULL;
    const int form = 2 * ftz + sat;
    if (f->type == PTX_F64 && f->from == PTX_F32) return f64_f32_forms[form];
    if (f->type == PTX_F64 && f->from == PTX_F16) return f64_f16_forms[form];
    if (f->type == PTX_F64 && f->from == PTX_BF16) return f64_bf16_forms[form];
    if (f->type == PTX_F32 && f->from == PTX_F16) return f32_f16_forms[form];
    if (f->type == PTX_F32 && f->from == PTX_BF16) return f32_bf16_forms[form];
    return NULL;
}

bool convert_float_to_float(const AluForm *f, Selection *s) {
    const bool to_16 = f->type == PTX_F16 || f->type == PTX_BF16;
    if (f->words & (W(relu) | W(satfinite)) && (!to_16 || f->type == f->from)) return false;
    if (f->type == f->from) return CHOOSE(s, same_type(f), f->type, f->from);
    Rounding rounding;
    if (f->words & INTEGER_ROUNDINGS || !alu_rounding(f, &rounding)) return false;
    if (to_16 && f->words & ROUNDINGS) return CHOOSE(s, to_half(f, rounding), f->type, f->from);
    if (f->type == PTX_F32 && f->from == PTX_F64) {
        if (!(f->words & ROUNDINGS)) return false;
        const bool ftz = f->words & W(ftz), sat = f->words & W(sat);
        return CHOOSE(s, f32_f64[rounding][2 * ftz + sat], f->type, f->from);
    }
    return CHOOSE(s, widening(f), f->type, f->from);
}
