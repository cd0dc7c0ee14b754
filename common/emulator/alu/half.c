// Half precision arithmetic (ISA, section of that name): f16, bf16, and pairs of them in 32 bits.
//
// A pair's two halves are just two neighbours in memory, so that a packed handler is a plain one over 64
// values whose lane is half their index. Sums and products are taken in a wider format and rounded twice;
// where the first rounding is inexact it is to odd, which makes the second one right (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008). f16 sums and products need no such care in single
// precision, which has more than twice the bits plus two; nor does a bf16 product in double precision.
#include "emulator/alu/float_lanes.h"

// Computes 32 halves of 32 halves of each source.
typedef void Halves(uint16_t *d, const uint16_t *px, const uint16_t *py, const uint16_t *pz);

// Copies the lanes in `mask`, of one half each or of two.
static void blend_halves(uint16_t *d, const uint16_t *values, uint32_t mask) {
    EACH_LANE d[lane] = mask >> lane & 1u ? values[lane] : d[lane];
}
static void blend_pairs(uint16_t *d, const uint16_t *values, uint32_t mask) {
    SAME_LANE for (unsigned i = 0; i < 2 * WARP_SIZE; i++) d[i] = mask >> i / 2 & 1u ? values[i] : d[i];
}

// Runs `each` over the lanes of a warp, with `count` halves in every lane: 1 or 2.
static void compute_halves(Halves *each, unsigned count, unsigned char *registers, const Instruction *in,
                           uint32_t mask) {
    uint16_t all_lanes[2 * WARP_SIZE];
    uint16_t *const kept = destination(registers, in, 0), *const d = mask == FULL_MASK ? kept : all_lanes;
    // A source that is not there is not read either.
    const uint16_t *const px = source(registers, in, 0), *const py = source(registers, in, 1),
                          *const pz = source(registers, in, 2);
    for (unsigned i = 0; i < count * WARP_SIZE; i += WARP_SIZE) each(d + i, px + i, py + i, pz + i);
    if (d != kept) (count == 1 ? blend_halves : blend_pairs)(kept, all_lanes, mask);
}

// A handler for one half and one for two, of EXPR over x, y, z: raw halves.
#define BOTH(NAME, LOADS, EXPR)                                                                              \
    static void NAME##_halves(uint16_t *d, const uint16_t *px, const uint16_t *py, const uint16_t *pz) {     \
        (void)px, (void)py, (void)pz;                                                                        \
        EACH_LANE {                                                                                          \
            LOADS;                                                                                           \
            d[lane] = (EXPR);                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(NAME) { compute_halves(NAME##_halves, 1, registers, in, mask); }                             \
    ALU_HANDLER(NAME##x2) { compute_halves(NAME##_halves, 2, registers, in, mask); }
#define BOTH_1(NAME, EXPR) BOTH(NAME, const uint16_t x = px[lane], EXPR)
#define BOTH_2(NAME, EXPR) BOTH(NAME, const uint16_t x = px[lane]; const uint16_t y = py[lane], EXPR)
#define BOTH_3(NAME, EXPR)                                                                                   \
    BOTH(NAME, const uint16_t x = px[lane]; const uint16_t y = py[lane]; const uint16_t z = pz[lane], EXPR)
#define PAIR(NAME)                                                                                           \
    { NAME, NAME##x2 }

// Which of the four types: 0 f16, 1 bf16, and whether packed; false for any other type.
static bool half_type(const AluForm *f, bool *is_bf16, bool *packed) {
    *is_bf16 = f->type == PTX_BF16 || f->type == PTX_BF16X2;
    *packed = f->type == PTX_F16X2 || f->type == PTX_BF16X2;
    return f->from == f->type && (*is_bf16 || f->type == PTX_F16 || f->type == PTX_F16X2);
}

// ---- Arithmetic -------------------------------------------------------------------------------------------

// What is done to a result. .relu gives +0 for what is negative, -0 included.
static inline uint16_t plain(uint16_t h) { return h; }
static inline uint16_t saturated_f16(uint16_t h) {
    if ((h & 0x7fffu) > 0x7c00u || h & 0x8000u) return 0;
    return h > 0x3c00u ? 0x3c00u : h;
}
static inline uint16_t relu_half(uint16_t h) {
    return (uint16_t)(h & 0x8000u ? 0 : h);
} // a NaN here is 0x7fff

#define ADD_F16(IN) (f16_float(IN(x)) + f16_float(IN(y)))
#define SUB_F16(IN) (f16_float(IN(x)) - f16_float(IN(y)))
#define MUL_F16(IN) (f16_float(IN(x)) * f16_float(IN(y)))
#define FMA_F16(IN) sum_odd(f16_float(IN(x)) * f16_float(IN(y)), f16_float(IN(z)))
// .relu is for fma alone.
#define F16_FORMS(OP, N, E)                                                                                  \
    BOTH_##N(OP##_f16, float_f16(E(plain))) BOTH_##N(OP##_ftz_f16, float_f16_flushed(E(flush_f16)))          \
        BOTH_##N(OP##_sat_f16, saturated_f16(float_f16(E(plain))))                                           \
            BOTH_##N(OP##_ftz_sat_f16, saturated_f16(float_f16_flushed(E(flush_f16))))
F16_FORMS(add, 2, ADD_F16)
F16_FORMS(sub, 2, SUB_F16)
F16_FORMS(mul, 2, MUL_F16)
F16_FORMS(fma, 3, FMA_F16)
BOTH_3(fma_relu_f16, relu_half(float_f16(FMA_F16(plain))))
BOTH_3(fma_ftz_relu_f16, relu_half(float_f16_flushed(FMA_F16(flush_f16))))

static inline float wide_product(uint16_t x, uint16_t y) {
    return float_odd((double)bf16_float(x) * bf16_float(y));
}
static inline float wide_fma(uint16_t x, uint16_t y, uint16_t z) {
    return float_odd(sum_odd_double((double)bf16_float(x) * bf16_float(y), bf16_float(z)));
}
BOTH_2(add_bf16, float_bf16(bf16_float(x) + bf16_float(y)))
BOTH_2(sub_bf16, float_bf16(bf16_float(x) - bf16_float(y)))
BOTH_2(mul_bf16, float_bf16(wide_product(x, y)))
BOTH_3(fma_bf16, float_bf16(wide_fma(x, y, z)))
BOTH_3(fma_relu_bf16, relu_half(float_bf16(wide_fma(x, y, z))))

typedef AluHandler *const HalfPair[2]; // plain, packed
typedef struct {
    HalfPair plain, ftz, sat, ftz_sat, bf16;
} HalfForms;
#define HALF_FORMS(OP)                                                                                       \
    { PAIR(OP##_f16), PAIR(OP##_ftz_f16), PAIR(OP##_sat_f16), PAIR(OP##_ftz_sat_f16), PAIR(OP##_bf16) }

static bool select_arithmetic(const AluForm *f, Selection *s, const HalfForms *forms, int sources,
                              int float_ops) {
    bool is_bf16, packed;
    if (!half_type(f, &is_bf16, &packed)) return false;
    AluHandler *handler = NULL;
    switch (f->words & ~W(rn)) {
    case 0: handler = is_bf16 ? forms->bf16[packed] : forms->plain[packed]; break;
    case W(ftz): handler = is_bf16 ? NULL : forms->ftz[packed]; break;
    case W(sat): handler = is_bf16 ? NULL : forms->sat[packed]; break;
    case W(ftz) | W(sat): handler = is_bf16 ? NULL : forms->ftz_sat[packed]; break;
    default: break;
    }
    if (!CHOOSE(s, handler, f->type, f->type, f->type, sources > 2 ? f->type : PTX_NO_TYPE)) return false;
    s->float_ops = packed ? 2 * float_ops : float_ops;
    return true;
}

bool half_add(const PtxInstruction *in, Selection *s) {
    static const HalfForms forms = HALF_FORMS(add);
    AluForm f;
    return alu_form(in, W(rn) | W(ftz) | W(sat), &f) && select_arithmetic(&f, s, &forms, 2, 1);
}

bool half_sub(const PtxInstruction *in, Selection *s) {
    static const HalfForms forms = HALF_FORMS(sub);
    AluForm f;
    return alu_form(in, W(rn) | W(ftz) | W(sat), &f) && select_arithmetic(&f, s, &forms, 2, 1);
}

bool half_mul(const PtxInstruction *in, Selection *s) {
    static const HalfForms forms = HALF_FORMS(mul);
    AluForm f;
    return alu_form(in, W(rn) | W(ftz) | W(sat), &f) && select_arithmetic(&f, s, &forms, 2, 1);
}

bool half_fma(const PtxInstruction *in, Selection *s) {
    static const HalfForms forms = HALF_FORMS(fma);
    static const HalfForms relu = {
        PAIR(fma_relu_f16), PAIR(fma_ftz_relu_f16), {NULL}, {NULL}, PAIR(fma_relu_bf16)};
    AluForm f;
    if (!alu_form(in, W(rn) | W(ftz) | W(sat) | W(relu), &f) || !(f.words & W(rn))) return false;
    const bool has_relu = f.words & W(relu);
    f.words &= ~W(relu);
    return select_arithmetic(&f, s, has_relu ? &relu : &forms, 3, 2);
}

// ---- Signs ------------------------------------------------------------------------------------------------

static bool is_nan_f16(uint16_t h) { return (h & 0x7fffu) > 0x7c00u; }
static bool is_nan_bf16(uint16_t h) { return (h & 0x7fffu) > 0x7f80u; }

// A NaN becomes the canonical one, as of f32.
#define SIGNS(TYPE)                                                                                          \
    BOTH_1(abs_##TYPE, (uint16_t)(is_nan_##TYPE(x) ? NAN_HALF : x & 0x7fffu))                                \
    BOTH_1(neg_##TYPE, (uint16_t)(is_nan_##TYPE(x) ? NAN_HALF : x ^ 0x8000u))
SIGNS(f16)
SIGNS(bf16)
BOTH_1(abs_ftz_f16, (uint16_t)(is_nan_f16(x) ? NAN_HALF : flush_f16(x) & 0x7fffu))
BOTH_1(neg_ftz_f16, (uint16_t)(is_nan_f16(x) ? NAN_HALF : flush_f16(x) ^ 0x8000u))

static bool select_sign(const PtxInstruction *in, Selection *s, HalfPair f16, HalfPair ftz, HalfPair bf16) {
    AluForm f;
    bool is_bf16, packed;
    if (!alu_form(in, W(ftz), &f) || !half_type(&f, &is_bf16, &packed) || (is_bf16 && f.words)) return false;
    return CHOOSE(s, (is_bf16 ? bf16 : f.words ? ftz : f16)[packed], f.type, f.type);
}

bool half_abs(const PtxInstruction *in, Selection *s) {
    static HalfPair f16 = PAIR(abs_f16), ftz = PAIR(abs_ftz_f16), bf16 = PAIR(abs_bf16);
    return select_sign(in, s, f16, ftz, bf16);
}

bool half_neg(const PtxInstruction *in, Selection *s) {
    static HalfPair f16 = PAIR(neg_f16), ftz = PAIR(neg_ftz_f16), bf16 = PAIR(neg_bf16);
    return select_sign(in, s, f16, ftz, bf16);
}

// ---- Extremes: as of f32 (float.c) --------------------------------------------------------------------

static inline int16_t half_order(uint16_t h) { return (int16_t)(h & 0x8000u ? ~(h & 0x7fffu) : h); }
static inline uint16_t lesser(uint16_t x, uint16_t y) { return half_order(x) < half_order(y) ? x : y; }
static inline uint16_t greater(uint16_t x, uint16_t y) { return half_order(x) > half_order(y) ? x : y; }
static inline uint16_t magnitude(uint16_t x) { return (uint16_t)(x & 0x7fffu); }

// The number among x and y, or `r` of two numbers.
static inline uint16_t or_number(uint16_t r, uint16_t x, uint16_t y, bool x_nan, bool y_nan) {
    return (uint16_t)(x_nan && y_nan ? NAN_HALF : x_nan ? y : y_nan ? x : r);
}
static inline uint16_t or_nan(uint16_t r, uint16_t x, uint16_t y, bool x_nan, bool y_nan) {
    (void)x, (void)y;
    return (uint16_t)(x_nan || y_nan ? NAN_HALF : r);
}
static inline uint16_t with_product_sign(uint16_t r, uint16_t x, uint16_t y, bool is_nan) {
    return (uint16_t)(is_nan ? r : r | ((x ^ y) & 0x8000u));
}
#define EXTREME(TYPE, F, OR, IN) OR(F(IN(x), IN(y)), IN(x), IN(y), is_nan_##TYPE(x), is_nan_##TYPE(y))
#define EXTREME_XOR(TYPE, F, OR, IN) product_##TYPE(EXTREME(TYPE, F, OR, IN), x, y)
static inline uint16_t product_f16(uint16_t r, uint16_t x, uint16_t y) {
    return with_product_sign(r, x, y, is_nan_f16(r));
}
static inline uint16_t product_bf16(uint16_t r, uint16_t x, uint16_t y) {
    return with_product_sign(r, x, y, is_nan_bf16(r));
}
static inline uint16_t flushed_magnitude(uint16_t x) { return magnitude(flush_f16(x)); }

#define EXTREME_FORMS(OP, F, TYPE)                                                                           \
    BOTH_2(OP##_##TYPE, EXTREME(TYPE, F, or_number, plain))                                                  \
    BOTH_2(OP##_nan_##TYPE, EXTREME(TYPE, F, or_nan, plain))                                                 \
    BOTH_2(OP##_xor_##TYPE, EXTREME_XOR(TYPE, F, or_number, magnitude))                                      \
    BOTH_2(OP##_xor_nan_##TYPE, EXTREME_XOR(TYPE, F, or_nan, magnitude))
#define EXTREME_FLUSHED(OP, F)                                                                               \
    BOTH_2(OP##_ftz_f16, EXTREME(f16, F, or_number, flush_f16))                                              \
    BOTH_2(OP##_ftz_nan_f16, EXTREME(f16, F, or_nan, flush_f16))                                             \
    BOTH_2(OP##_ftz_xor_f16, EXTREME_XOR(f16, F, or_number, flushed_magnitude))                              \
    BOTH_2(OP##_ftz_xor_nan_f16, EXTREME_XOR(f16, F, or_nan, flushed_magnitude))
EXTREME_FORMS(min, lesser, f16)
EXTREME_FORMS(max, greater, f16)
EXTREME_FORMS(min, lesser, bf16)
EXTREME_FORMS(max, greater, bf16)
EXTREME_FLUSHED(min, lesser)
EXTREME_FLUSHED(max, greater)

// Forms by NaN + 2 * xorsign.abs: of f16, f16 with .ftz, and bf16.
typedef HalfPair ExtremeTable[3][4];
#define EXTREME_TABLE(OP)                                                                                    \
    {                                                                                                        \
        {PAIR(OP##_f16), PAIR(OP##_nan_f16), PAIR(OP##_xor_f16), PAIR(OP##_xor_nan_f16)},                    \
            {PAIR(OP##_ftz_f16), PAIR(OP##_ftz_nan_f16), PAIR(OP##_ftz_xor_f16),                             \
             PAIR(OP##_ftz_xor_nan_f16)},                                                                    \
            {PAIR(OP##_bf16), PAIR(OP##_nan_bf16), PAIR(OP##_xor_bf16), PAIR(OP##_xor_nan_bf16)},            \
    }

static bool select_extreme(const PtxInstruction *in, Selection *s, ExtremeTable table) {
    AluForm f;
    bool is_bf16, packed;
    const uint64_t product_sign = W(xorsign) | W(abs);
    if (!alu_form(in, W(ftz) | W(NaN) | product_sign, &f) || !half_type(&f, &is_bf16, &packed)) return false;
    const uint64_t have = f.words & product_sign;
    const bool ftz = f.words & W(ftz);
    if ((have && have != product_sign) || (ftz && is_bf16)) return false;
    const int form = (f.words & W(NaN) ? 1 : 0) + (have ? 2 : 0);
    return CHOOSE(s, table[is_bf16 ? 2 : ftz][form][packed], f.type, f.type, f.type);
}

bool half_min(const PtxInstruction *in, Selection *s) {
    static ExtremeTable table = EXTREME_TABLE(min);
    return select_extreme(in, s, table);
}

bool half_max(const PtxInstruction *in, Selection *s) {
    static ExtremeTable table = EXTREME_TABLE(max);
    return select_extreme(in, s, table);
}

// ---- ex2 and tanh: the exact value rounded once -----------------------------------------------------------

static uint16_t power_f16(uint16_t x) { return float_f16(float_odd(exp2((double)f16_float(x)))); }
static uint16_t power_bf16(uint16_t x) {
    return float_bf16(float_odd(exp2((double)bf16_float(flush_bf16(x)))));
}
static uint16_t tanh_of_f16(uint16_t x) { return float_f16(float_odd(tanh((double)f16_float(x)))); }
static uint16_t tanh_of_bf16(uint16_t x) { return float_bf16(float_odd(tanh((double)bf16_float(x)))); }
BOTH_1(ex2_f16, power_f16(x))
BOTH_1(ex2_bf16, flush_bf16(power_bf16(x)))
BOTH_1(tanh_f16, tanh_of_f16(x))
BOTH_1(tanh_bf16, tanh_of_bf16(x))

// ex2 of bf16 is written with .ftz and of f16 without (ISA, half precision ex2).
bool half_ex2(const PtxInstruction *in, Selection *s) {
    static HalfPair f16 = PAIR(ex2_f16), bf16 = PAIR(ex2_bf16);
    AluForm f;
    bool is_bf16, packed;
    if (!alu_form(in, W(approx) | W(ftz), &f) || !half_type(&f, &is_bf16, &packed)) return false;
    if (f.words != (is_bf16 ? W(approx) | W(ftz) : W(approx))) return false;
    return CHOOSE(s, (is_bf16 ? bf16 : f16)[packed], f.type, f.type);
}

bool half_tanh(const PtxInstruction *in, Selection *s) {
    static HalfPair f16 = PAIR(tanh_f16), bf16 = PAIR(tanh_bf16);
    AluForm f;
    bool is_bf16, packed;
    if (!alu_form(in, W(approx), &f) || !f.words || !half_type(&f, &is_bf16, &packed)) return false;
    return CHOOSE(s, (is_bf16 ? bf16 : f16)[packed], f.type, f.type);
}
