// f32 and f64 arithmetic (ISA, Floating Point Instructions) rounded to nearest, and what needs no rounding:
// signs, extremes, tests. The directed roundings are in rounding.c, the approximations in approx.c.
#include "emulator/alu/float_lanes.h"

// ---- Arithmetic -------------------------------------------------------------------------------------------

// E(IN) is the expression with every operand passed through IN.
#define ADD(IN) (IN(a) + IN(b))
#define SUB(IN) (IN(a) - IN(b))
#define MUL(IN) (IN(a) * IN(b))
#define DIV(IN) (IN(a) / IN(b))
#define FMA(IN) fmaf(IN(a), IN(b), IN(c))
#define RCP(IN) (1.0f / IN(a))
#define SQRT(IN) sqrtf(IN(a))

#define T_1 float, float
#define T_2 float, float, float
#define T_3 float, float, float, float
#define EXPAND(MACRO, ...) MACRO(__VA_ARGS__)
#define PLAIN_FORMS(OP, N, E)                                                                                \
    EXPAND(ALU_##N, OP##_f32, T_##N, canonical(E(keep)))                                                     \
    EXPAND(RARE_##N, OP##_sat_f32, T_##N, saturated(E(keep)))
#define FORMS(OP, N, E)                                                                                      \
    PLAIN_FORMS(OP, N, E)                                                                                    \
    EXPAND(ALU_##N, OP##_ftz_f32, T_##N, canonical(flush(E(flush))))                                         \
    EXPAND(RARE_##N, OP##_ftz_sat_f32, T_##N, saturated(flush(E(flush))))
FORMS(add, 2, ADD)
FORMS(sub, 2, SUB)
FORMS(div, 2, DIV)
FORMS(rcp, 1, RCP)
FORMS(sqrt, 1, SQRT)
PLAIN_FORMS(mul, 2, MUL)
PLAIN_FORMS(fma, 3, FMA)

// Flushed products and fused sums: only where the rounded result is the least normal number, which hardly
// ever happens, does it take the exact one to tell whether it was tiny (see tiny_f32()).
#define LEAST_NORMAL 0x00800000u
#define FLUSHED(NAME, LAST_SOURCE, E, EXACT, FINISH)                                                         \
    ALU_HANDLER(NAME) {                                                                                      \
        const float *pa = source(registers, in, 0), *pb = source(registers, in, 1);                          \
        const float *pc = source(registers, in, LAST_SOURCE);                                                \
        float results[WARP_SIZE];                                                                            \
        uint32_t doubtful = 0;                                                                               \
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {                                                  \
            const float a = pa[lane], b = pb[lane], c = pc[lane];                                            \
            const float result = E(flush);                                                                   \
            doubtful |= (float_bits(result) & ~SIGN_32) == LEAST_NORMAL;                                     \
            results[lane] = flush(result);                                                                   \
            (void)c;                                                                                         \
        }                                                                                                    \
        for (unsigned lane = 0; doubtful && lane < WARP_SIZE; lane++) {                                      \
            const double a = flush(pa[lane]), b = flush(pb[lane]), c = flush(pc[lane]);                      \
            if (tiny_f32(EXACT, ROUND_NEAREST)) results[lane] = zero_of_sign(results[lane]);                 \
            (void)c;                                                                                         \
        }                                                                                                    \
        ALU_LANES(float, (void)0, FINISH(results[lane]))                                                     \
    }
#define SIGN_32 0x80000000u
FLUSHED(mul_ftz_f32, 1, MUL, a *b, canonical)
FLUSHED(mul_ftz_sat_f32, 1, MUL, a *b, saturated)
FLUSHED(fma_ftz_f32, 2, FMA, sum_odd_double(a *b, c), canonical)
FLUSHED(fma_ftz_sat_f32, 2, FMA, sum_odd_double(a *b, c), saturated)

ALU_2(add_f64, double, double, double, with_nan_of(a + b, a, b, b))
ALU_2(sub_f64, double, double, double, with_nan_of(a - b, a, b, b))
ALU_2(mul_f64, double, double, double, with_nan_of(a *b, a, b, b))
ALU_2(div_f64, double, double, double, with_nan_of(a / b, b, a, a)) // here a goes first
ALU_3(fma_f64, double, double, double, double, with_nan_of(fma(a, b, c), a, b, c))
ALU_1(rcp_f64, double, double, with_nan_of(1.0 / a, a, a, a))
ALU_1(sqrt_f64, double, double, with_nan_of(sqrt(a), a, a, a))

#define NEAREST(OP)                                                                                          \
    { {OP##_f32, OP##_sat_f32, OP##_ftz_f32, OP##_ftz_sat_f32}, OP##_f64 }
static const RoundedForms nearest_forms[ROUNDED_OPERATIONS] = {
    [ROUNDED_ADD] = NEAREST(add),   [ROUNDED_SUB] = NEAREST(sub), [ROUNDED_MUL] = NEAREST(mul),
    [ROUNDED_FMA] = NEAREST(fma),   [ROUNDED_DIV] = NEAREST(div), [ROUNDED_RCP] = NEAREST(rcp),
    [ROUNDED_SQRT] = NEAREST(sqrt),
};

// `float_ops` are those of one lane. An instruction that must name its rounding sets `named`.
static bool select_arithmetic(const PtxInstruction *in, Selection *s, RoundedOperation operation, int sources,
                              bool saturates, bool named, int float_ops) {
    AluForm f;
    Rounding rounding;
    if (!alu_form(in, ROUNDINGS | W(ftz) | (saturates ? W(sat) : 0), &f) || !alu_rounding(&f, &rounding))
        return false;
    if (named && !(f.words & ROUNDINGS)) return false;
    const RoundedForms *forms =
        rounding == ROUND_NEAREST ? &nearest_forms[operation] : &rounded_forms[operation][rounding];
    const bool ftz = f.words & W(ftz), sat = f.words & W(sat);
    AluHandler *handler = NULL;
    if (f.type == PTX_F32 && f.from == PTX_F32) handler = forms->f32[2 * ftz + sat];
    if (f.type == PTX_F64 && f.from == PTX_F64 && !ftz && !sat) handler = forms->f64;
    const PtxType t = f.type, none = PTX_NO_TYPE;
    if (!CHOOSE(s, handler, t, t, sources > 1 ? t : none, sources > 2 ? t : none)) return false;
    s->float_ops = float_ops;
    return true;
}

bool float_add(const PtxInstruction *in, Selection *s) {
    return select_arithmetic(in, s, ROUNDED_ADD, 2, true, false, 1);
}
bool float_sub(const PtxInstruction *in, Selection *s) {
    return select_arithmetic(in, s, ROUNDED_SUB, 2, true, false, 1);
}
bool float_mul(const PtxInstruction *in, Selection *s) {
    return select_arithmetic(in, s, ROUNDED_MUL, 2, true, false, 1);
}
// mad of floats too: from sm_20 on it is fma (ISA, mad).
bool float_fma(const PtxInstruction *in, Selection *s) {
    return select_arithmetic(in, s, ROUNDED_FMA, 3, true, true, 2);
}
bool float_div(const PtxInstruction *in, Selection *s) {
    return select_arithmetic(in, s, ROUNDED_DIV, 2, false, true, 1);
}
bool float_rcp(const PtxInstruction *in, Selection *s) {
    return select_arithmetic(in, s, ROUNDED_RCP, 1, false, true, 1);
}
bool float_sqrt(const PtxInstruction *in, Selection *s) {
    return select_arithmetic(in, s, ROUNDED_SQRT, 1, false, true, 1);
}

// ---- Signs ------------------------------------------------------------------------------------------------

// abs and neg are arithmetic on the device: a NaN becomes canonical, a double's quiet and keeps its sign.
#define SIGN_64 UINT64_C(0x8000000000000000)
static inline float negated(float x) { return bits_float(float_bits(x) ^ SIGN_32); }
ALU_1(abs_f32, float, float, canonical(fabsf(a)))
ALU_1(abs_ftz_f32, float, float, canonical(fabsf(flush(a))))
ALU_1(abs_f64, double, double, a != a ? quiet(a) : fabs(a))
ALU_1(neg_f32, float, float, canonical(negated(a)))
ALU_1(neg_ftz_f32, float, float, canonical(negated(flush(a))))
ALU_1(neg_f64, double, double, a != a ? quiet(a) : bits_double(double_bits(a) ^ SIGN_64))
// The sign of a on the magnitude of b (ISA, copysign).
RARE_2(copysign_f32, uint32_t, uint32_t, uint32_t, (a & SIGN_32) | (b & ~SIGN_32))
RARE_2(copysign_f64, uint64_t, uint64_t, uint64_t, (a & SIGN_64) | (b & ~SIGN_64))

static bool select_sign(const PtxInstruction *in, Selection *s, AluHandler *f32, AluHandler *ftz,
                        AluHandler *f64) {
    AluForm f;
    if (!alu_form(in, W(ftz), &f)) return false;
    if (f.type == PTX_F32) return CHOOSE(s, f.words ? ftz : f32, f.type, f.type);
    return f.type == PTX_F64 && !f.words && CHOOSE(s, f64, f.type, f.type);
}

bool float_abs(const PtxInstruction *in, Selection *s) {
    return select_sign(in, s, abs_f32, abs_ftz_f32, abs_f64);
}
bool float_neg(const PtxInstruction *in, Selection *s) {
    return select_sign(in, s, neg_f32, neg_ftz_f32, neg_f64);
}

bool float_copysign(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, 0, &f)) return false;
    if (f.type == PTX_F32) return CHOOSE(s, copysign_f32, f.type, f.type, f.type);
    return f.type == PTX_F64 && CHOOSE(s, copysign_f64, f.type, f.type, f.type);
}

// ---- Extremes (ISA, min and max) --------------------------------------------------------------------------

// The other operand when one is NaN, the canonical NaN when both are; -0 is below +0.
static inline float lesser(float a, float b) {
    const float r = float_order(a) < float_order(b) ? a : b;
    return canonical(a != a ? b : b != b ? a : r);
}
static inline float greater(float a, float b) {
    const float r = float_order(a) > float_order(b) ? a : b;
    return canonical(a != a ? b : b != b ? a : r);
}
// .NaN: a NaN operand makes the result NaN.
static inline float lesser_nan(float a, float b) {
    const float r = float_order(a) < float_order(b) ? a : b;
    return a != a || b != b ? bits_float(NAN_F32) : r;
}
static inline float greater_nan(float a, float b) {
    const float r = float_order(a) > float_order(b) ? a : b;
    return a != a || b != b ? bits_float(NAN_F32) : r;
}
// .xorsign.abs: the extreme of the magnitudes, with the product's sign unless it is NaN.
static inline float with_product_sign(float r, float a, float b) {
    return r != r ? r : bits_float(float_bits(r) | ((float_bits(a) ^ float_bits(b)) & SIGN_32));
}
static inline double lesser_double(double a, double b) {
    const double r = double_order(a) < double_order(b) ? a : b;
    const double other = a != a ? b : b != b ? a : r;
    return other != other ? quiet(b) : other;
}
static inline double greater_double(double a, double b) {
    const double r = double_order(a) > double_order(b) ? a : b;
    const double other = a != a ? b : b != b ? a : r;
    return other != other ? quiet(b) : other;
}

#define EXTREME(OP, F)                                                                                       \
    ALU_2(OP##_f32, float, float, float, F(a, b))                                                            \
    ALU_2(OP##_ftz_f32, float, float, float, F(flush(a), flush(b)))                                          \
    RARE_2(OP##_nan_f32, float, float, float, F##_nan(a, b))                                                 \
    RARE_2(OP##_ftz_nan_f32, float, float, float, F##_nan(flush(a), flush(b)))                               \
    RARE_2(OP##_xor_f32, float, float, float, with_product_sign(F(fabsf(a), fabsf(b)), a, b))                \
    RARE_2(OP##_xor_ftz_f32, float, float, float,                                                            \
           with_product_sign(F(flush(fabsf(a)), flush(fabsf(b))), a, b))                                     \
    RARE_2(OP##_xor_nan_f32, float, float, float, with_product_sign(F##_nan(fabsf(a), fabsf(b)), a, b))      \
    RARE_2(OP##_xor_ftz_nan_f32, float, float, float,                                                        \
           with_product_sign(F##_nan(flush(fabsf(a)), flush(fabsf(b))), a, b))                               \
    ALU_2(OP##_f64, double, double, double, F##_double(a, b))
EXTREME(min, lesser)
EXTREME(max, greater)

static bool select_extreme(const PtxInstruction *in, Selection *s, AluHandler *const f32[8],
                           AluHandler *f64) {
    AluForm f;
    const uint64_t product_sign = W(xorsign) | W(abs);
    if (!alu_form(in, W(ftz) | W(NaN) | product_sign, &f)) return false;
    if (f.type == PTX_F64) return !f.words && CHOOSE(s, f64, f.type, f.type, f.type);
    const uint64_t have = f.words & product_sign;
    if (f.type != PTX_F32 || (have && have != product_sign)) return false;
    const int form = (f.words & W(ftz) ? 1 : 0) + (f.words & W(NaN) ? 2 : 0) + (have ? 4 : 0);
    return CHOOSE(s, f32[form], f.type, f.type, f.type);
}

bool float_min(const PtxInstruction *in, Selection *s) {
    static AluHandler *const f32[8] = {min_f32,     min_ftz_f32,     min_nan_f32,     min_ftz_nan_f32,
                                       min_xor_f32, min_xor_ftz_f32, min_xor_nan_f32, min_xor_ftz_nan_f32};
    return select_extreme(in, s, f32, min_f64);
}

bool float_max(const PtxInstruction *in, Selection *s) {
    static AluHandler *const f32[8] = {max_f32,     max_ftz_f32,     max_nan_f32,     max_ftz_nan_f32,
                                       max_xor_f32, max_xor_ftz_f32, max_xor_nan_f32, max_xor_ftz_nan_f32};
    return select_extreme(in, s, f32, max_f64);
}

// ---- testp: what kind of number (ISA, testp) --------------------------------------------------------------

// Zero is normal here, says the ISA; m is the magnitude, INF the bits of infinity, TINY the least normal.
#define TESTS(N, MAGNITUDE, INF, TINY)                                                                       \
    TEST(finite_##N, uint##N##_t, MAGNITUDE, m < (INF))                                                      \
    TEST(infinite_##N, uint##N##_t, MAGNITUDE, m == (INF))                                                   \
    TEST(number_##N, uint##N##_t, MAGNITUDE, m <= (INF))                                                     \
    TEST(notanumber_##N, uint##N##_t, MAGNITUDE, m > (INF))                                                  \
    TEST(normal_##N, uint##N##_t, MAGNITUDE, m < (INF) && (m >= (TINY) || m == 0))                           \
    TEST(subnormal_##N, uint##N##_t, MAGNITUDE, m > 0 && m < (TINY))
#define TEST(NAME, T, MAGNITUDE, EXPR)                                                                       \
    ALU_HANDLER(NAME) {                                                                                      \
        const T *pa = source(registers, in, 0);                                                              \
        uint32_t result = 0;                                                                                 \
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {                                                  \
            const T m = pa[lane] & (MAGNITUDE);                                                              \
            result |= (uint32_t)(EXPR) << lane;                                                              \
        }                                                                                                    \
        write_predicate(registers, in, 0, result, mask);                                                     \
    }
TESTS(32, INT32_MAX, 0x7f800000u, 0x00800000u)
TESTS(64, INT64_MAX, UINT64_C(0x7ff0000000000000), UINT64_C(0x0010000000000000))

bool float_testp(const PtxInstruction *in, Selection *s) {
    AluForm f;
    const uint64_t tests = W(finite) | W(infinite) | W(number) | W(notanumber) | W(normal) | W(subnormal);
    if (!alu_form(in, tests, &f) || (f.type != PTX_F32 && f.type != PTX_F64)) return false;
    const bool wide = f.type == PTX_F64;
    AluHandler *handler = NULL;
    switch (f.words) {
    case W(finite): handler = wide ? finite_64 : finite_32; break;
    case W(infinite): handler = wide ? infinite_64 : infinite_32; break;
    case W(number): handler = wide ? number_64 : number_32; break;
    case W(notanumber): handler = wide ? notanumber_64 : notanumber_32; break;
    case W(normal): handler = wide ? normal_64 : normal_32; break;
    case W(subnormal): handler = wide ? subnormal_64 : subnormal_32; break;
    default: break;
    }
    return CHOOSE(s, handler, PTX_PRED, f.type);
}
