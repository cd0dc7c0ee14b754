// Comparison and selection (ISA, sections of those names, for half precision too): setp, set, selp, slct.
//
// One function a type and operator compares all 32 lanes to a bitmask; thin handlers around it combine
// the mask with a predicate and write it as predicates (setp) or as words (set).
#include "emulator/alu/float_lanes.h"

typedef uint32_t Comparison(const unsigned char *registers, const Instruction *in);

// ---- What becomes of a bitmask ----------------------------------------------------------------------------

typedef enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR, COMBINES } Combine;

static inline uint32_t combined(Combine combine, uint32_t t, const unsigned char *registers,
                                const Instruction *in) {
    switch (combine) {
    case COMBINE_AND: return t & read_predicate(registers, in, 2);
    case COMBINE_OR: return t | read_predicate(registers, in, 2);
    case COMBINE_XOR: return t ^ read_predicate(registers, in, 2);
    default: return t;
    }
}

// setp p|q: p is the comparison, q its complement, each combined with the third source (ISA, setp).
static inline void write_setp(unsigned char *registers, const Instruction *in, uint32_t mask, Combine combine,
                              uint32_t t) {
    const uint32_t p = combined(combine, t, registers, in);
    const uint32_t q = combined(combine, ~t, registers, in);
    write_predicate(registers, in, 0, p, mask);
    write_predicate(registers, in, 1, q, mask);
}

// set: 1.0 in a floating-point destination, all ones in an integer one.
#define WRITE_SET(NAME, T, TRUE)                                                                             \
    static void write_set_##NAME(unsigned char *registers, const Instruction *in, uint32_t mask,             \
                                 Combine combine, uint32_t t) {                                              \
        const uint32_t result = combined(combine, t, registers, in);                                         \
        T *d = destination(registers, in, 0);                                                                \
        EACH_LANE {                                                                                          \
            const T word = (T)(result >> lane & 1u ? (TRUE) : 0);                                            \
            d[lane] = (T)(mask >> lane & 1u ? word : d[lane]);                                               \
        }                                                                                                    \
    }
WRITE_SET(i32, uint32_t, 0xffffffffu)
WRITE_SET(f32, uint32_t, 0x3f800000u)
WRITE_SET(i16, uint16_t, 0xffffu)
WRITE_SET(f16, uint16_t, 0x3c00u)
WRITE_SET(bf16, uint16_t, 0x3f80u)

// ---- One comparison of one type ---------------------------------------------------------------------------

#define COMPARE(NAME, T, READ, EXPR)                                                                         \
    static uint32_t compare_##NAME(const unsigned char *registers, const Instruction *in) {                  \
        const T *pa = source(registers, in, 0), *pb = source(registers, in, 1);                              \
        uint32_t result = 0;                                                                                 \
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {                                                  \
            const __auto_type a = READ(pa[lane]);                                                            \
            const __auto_type b = READ(pb[lane]);                                                            \
            result |= (uint32_t)(EXPR) << lane;                                                              \
        }                                                                                                    \
        return result;                                                                                       \
    }
#define FORM(WHAT, NAME, COMBINE_NAME, COMBINE)                                                              \
    ALU_HANDLER(WHAT##_##COMBINE_NAME##_##NAME) {                                                            \
        write_##WHAT(registers, in, mask, COMBINE, compare_##NAME(registers, in));                           \
    }
#define EACH_COMBINE(WHAT, NAME)                                                                             \
    FORM(WHAT, NAME, none, COMBINE_NONE)                                                                     \
    FORM(WHAT, NAME, and, COMBINE_AND)                                                                       \
    FORM(WHAT, NAME, or, COMBINE_OR)                                                                         \
    FORM(WHAT, NAME, xor, COMBINE_XOR)
#define ROW(WHAT, NAME)                                                                                      \
    { WHAT##_none_##NAME, WHAT##_and_##NAME, WHAT##_or_##NAME, WHAT##_xor_##NAME }

// The handlers of one relation, by what is written. The 16-bit destinations go with 16-bit sources.
typedef enum { TO_PREDICATE, TO_I32, TO_F32, TO_16, TO_I16, TARGETS } Target;
typedef struct {
    AluHandler *by[TARGETS][COMBINES];
} ComparisonForms;

#define WIDE_FORMS(NAME, T, READ, EXPR)                                                                      \
    COMPARE(NAME, T, READ, EXPR)                                                                             \
    EACH_COMBINE(setp, NAME)                                                                                 \
    EACH_COMBINE(set_i32, NAME)                                                                              \
    EACH_COMBINE(set_f32, NAME)
#define WIDE_ENTRY(NAME)                                                                                     \
    {                                                                                                        \
        { ROW(setp, NAME), ROW(set_i32, NAME), ROW(set_f32, NAME) }                                          \
    }
#define HALF_FORMS(NAME, T, READ, EXPR, OWN)                                                                 \
    WIDE_FORMS(NAME, T, READ, EXPR)                                                                          \
    EACH_COMBINE(OWN, NAME)                                                                                  \
    EACH_COMBINE(set_i16, NAME)
#define HALF_ENTRY(NAME, OWN)                                                                                \
    {                                                                                                        \
        { ROW(setp, NAME), ROW(set_i32, NAME), ROW(set_f32, NAME), ROW(OWN, NAME), ROW(set_i16, NAME) }      \
    }

// ---- The operators of a type ------------------------------------------------------------------------------

typedef enum {
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQU,
    OP_NEU,
    OP_LTU,
    OP_LEU,
    OP_GTU,
    OP_GEU,
    OP_NUM,
    OP_NAN,
    OPERATORS
} Operator;

#define SAME(x) (x)
#define INTEGER_OPERATORS(TYPE, T)                                                                           \
    WIDE_FORMS(TYPE##_eq, T, SAME, a == b)                                                                   \
    WIDE_FORMS(TYPE##_ne, T, SAME, a != b)                                                                   \
    WIDE_FORMS(TYPE##_lt, T, SAME, a < b)                                                                    \
    WIDE_FORMS(TYPE##_le, T, SAME, a <= b)                                                                   \
    WIDE_FORMS(TYPE##_gt, T, SAME, a > b)                                                                    \
    WIDE_FORMS(TYPE##_ge, T, SAME, a >= b)                                                                   \
    static const ComparisonForms forms_##TYPE[OPERATORS] = {                                                 \
        [OP_EQ] = WIDE_ENTRY(TYPE##_eq), [OP_NE] = WIDE_ENTRY(TYPE##_ne), [OP_LT] = WIDE_ENTRY(TYPE##_lt),   \
        [OP_LE] = WIDE_ENTRY(TYPE##_le), [OP_GT] = WIDE_ENTRY(TYPE##_gt), [OP_GE] = WIDE_ENTRY(TYPE##_ge)};
INTEGER_OPERATORS(u16, uint16_t)
INTEGER_OPERATORS(s16, int16_t)
INTEGER_OPERATORS(u32, uint32_t)
INTEGER_OPERATORS(s32, int32_t)
INTEGER_OPERATORS(u64, uint64_t)
INTEGER_OPERATORS(s64, int64_t)

// Of floats, lt and its kind are false with a NaN, ltu and its kind true. M makes the forms of one.
#define UNORDERED(a, b) (a != a || b != b)
#define FLOAT_OPERATORS(M, TYPE, ...)                                                                        \
    M(TYPE##_eq, __VA_ARGS__, a == b)                                                                        \
    M(TYPE##_ne, __VA_ARGS__, !UNORDERED(a, b) && a != b)                                                    \
    M(TYPE##_lt, __VA_ARGS__, a < b)                                                                         \
    M(TYPE##_le, __VA_ARGS__, a <= b)                                                                        \
    M(TYPE##_gt, __VA_ARGS__, a > b)                                                                         \
    M(TYPE##_ge, __VA_ARGS__, a >= b)                                                                        \
    M(TYPE##_equ, __VA_ARGS__, UNORDERED(a, b) || a == b)                                                    \
    M(TYPE##_neu, __VA_ARGS__, a != b)                                                                       \
    M(TYPE##_ltu, __VA_ARGS__, !(a >= b))                                                                    \
    M(TYPE##_leu, __VA_ARGS__, !(a > b))                                                                     \
    M(TYPE##_gtu, __VA_ARGS__, !(a <= b))                                                                    \
    M(TYPE##_geu, __VA_ARGS__, !(a < b))                                                                     \
    M(TYPE##_num, __VA_ARGS__, !UNORDERED(a, b))                                                             \
    M(TYPE##_nan, __VA_ARGS__, UNORDERED(a, b))
#define FLOAT_ENTRIES(E, TYPE)                                                                               \
    {                                                                                                        \
        [OP_EQ] = E(TYPE##_eq), [OP_NE] = E(TYPE##_ne), [OP_LT] = E(TYPE##_lt), [OP_LE] = E(TYPE##_le),      \
        [OP_GT] = E(TYPE##_gt), [OP_GE] = E(TYPE##_ge), [OP_EQU] = E(TYPE##_equ), [OP_NEU] = E(TYPE##_neu),  \
        [OP_LTU] = E(TYPE##_ltu), [OP_LEU] = E(TYPE##_leu), [OP_GTU] = E(TYPE##_gtu),                        \
        [OP_GEU] = E(TYPE##_geu), [OP_NUM] = E(TYPE##_num), [OP_NAN] = E(TYPE##_nan)                         \
    }
#define F16_FORMS(NAME, READ, EXPR) HALF_FORMS(NAME, uint16_t, READ, EXPR, set_f16)
#define BF16_FORMS(NAME, READ, EXPR) HALF_FORMS(NAME, uint16_t, READ, EXPR, set_bf16)
#define F16_ENTRY(NAME) HALF_ENTRY(NAME, set_f16)
#define BF16_ENTRY(NAME) HALF_ENTRY(NAME, set_bf16)
#define FLUSHED_F16(x) f16_float(flush_f16(x))

FLOAT_OPERATORS(WIDE_FORMS, f32, float, SAME)
FLOAT_OPERATORS(WIDE_FORMS, f32_ftz, float, flush)
FLOAT_OPERATORS(WIDE_FORMS, f64, double, SAME)
FLOAT_OPERATORS(F16_FORMS, f16, f16_float)
FLOAT_OPERATORS(F16_FORMS, f16_ftz, FLUSHED_F16)
FLOAT_OPERATORS(BF16_FORMS, bf16, bf16_float)

static const ComparisonForms forms_f32[OPERATORS] = FLOAT_ENTRIES(WIDE_ENTRY, f32);
static const ComparisonForms forms_f32_ftz[OPERATORS] = FLOAT_ENTRIES(WIDE_ENTRY, f32_ftz);
static const ComparisonForms forms_f64[OPERATORS] = FLOAT_ENTRIES(WIDE_ENTRY, f64);
static const ComparisonForms forms_f16[OPERATORS] = FLOAT_ENTRIES(F16_ENTRY, f16);
static const ComparisonForms forms_f16_ftz[OPERATORS] = FLOAT_ENTRIES(F16_ENTRY, f16_ftz);
static const ComparisonForms forms_bf16[OPERATORS] = FLOAT_ENTRIES(BF16_ENTRY, bf16);

// ---- Packed halves ----------------------------------------------------------------------------------------

// The two halves of each lane compared apart: `low` and `high` are bitmasks over lanes.
typedef struct {
    uint32_t low, high;
} PairMask;
#define COMPARE_PAIR(NAME, READ, EXPR)                                                                       \
    static PairMask compare_pair_##NAME(const unsigned char *registers, const Instruction *in) {             \
        const uint16_t *pa = source(registers, in, 0), *pb = source(registers, in, 1);                       \
        PairMask result = {0, 0};                                                                            \
        for (unsigned i = 0; i < 2 * WARP_SIZE; i++) {                                                       \
            const float a = READ(pa[i]), b = READ(pb[i]);                                                    \
            *(i & 1u ? &result.high : &result.low) |= (uint32_t)(EXPR) << (i / 2);                           \
        }                                                                                                    \
        return result;                                                                                       \
    }

// setp.f16x2 p|q: p for the low halves, q for the high ones (ISA, half precision setp).
static void write_pair_setp(unsigned char *registers, const Instruction *in, uint32_t mask, Combine combine,
                            PairMask t) {
    const uint32_t p = combined(combine, t.low, registers, in), q = combined(combine, t.high, registers, in);
    write_predicate(registers, in, 0, p, mask);
    write_predicate(registers, in, 1, q, mask);
}
#define WRITE_PAIR_SET(NAME, TRUE)                                                                           \
    static void write_pair_set_##NAME(unsigned char *registers, const Instruction *in, uint32_t mask,        \
                                      Combine combine, PairMask t) {                                         \
        const uint32_t low = combined(combine, t.low, registers, in);                                        \
        const uint32_t high = combined(combine, t.high, registers, in);                                      \
        uint32_t *d = destination(registers, in, 0);                                                         \
        EACH_LANE {                                                                                          \
            const uint32_t l = low >> lane & 1u ? (TRUE) : 0u, h = high >> lane & 1u ? (TRUE) : 0u;          \
            d[lane] = mask >> lane & 1u ? l | h << 16 : d[lane];                                             \
        }                                                                                                    \
    }
WRITE_PAIR_SET(mask, 0xffffu)
WRITE_PAIR_SET(f16, 0x3c00u)
WRITE_PAIR_SET(bf16, 0x3f80u)

typedef enum { PAIR_TO_PREDICATE, PAIR_TO_MASK, PAIR_TO_HALVES, PAIR_TARGETS } PairTarget;
typedef struct {
    AluHandler *by[PAIR_TARGETS][COMBINES];
} PairForms;
#define PAIR_FORM(WHAT, NAME, COMBINE_NAME, COMBINE)                                                         \
    ALU_HANDLER(pair_##WHAT##_##COMBINE_NAME##_##NAME) {                                                     \
        write_pair_##WHAT(registers, in, mask, COMBINE, compare_pair_##NAME(registers, in));                 \
    }
#define EACH_PAIR_COMBINE(WHAT, NAME)                                                                        \
    PAIR_FORM(WHAT, NAME, none, COMBINE_NONE)                                                                \
    PAIR_FORM(WHAT, NAME, and, COMBINE_AND)                                                                  \
    PAIR_FORM(WHAT, NAME, or, COMBINE_OR)                                                                    \
    PAIR_FORM(WHAT, NAME, xor, COMBINE_XOR)
#define PAIR_FORMS(NAME, READ, OWN, EXPR)                                                                    \
    COMPARE_PAIR(NAME, READ, EXPR)                                                                           \
    EACH_PAIR_COMBINE(setp, NAME)                                                                            \
    EACH_PAIR_COMBINE(set_mask, NAME)                                                                        \
    EACH_PAIR_COMBINE(OWN, NAME)
#define PAIR_ENTRY(NAME, OWN)                                                                                \
    {                                                                                                        \
        { ROW(pair_setp, NAME), ROW(pair_set_mask, NAME), ROW(pair_##OWN, NAME) }                            \
    }
#define F16X2_ENTRY(NAME) PAIR_ENTRY(NAME, set_f16)
#define BF16X2_ENTRY(NAME) PAIR_ENTRY(NAME, set_bf16)
FLOAT_OPERATORS(PAIR_FORMS, f16x2, f16_float, set_f16)
FLOAT_OPERATORS(PAIR_FORMS, f16x2_ftz, FLUSHED_F16, set_f16)
FLOAT_OPERATORS(PAIR_FORMS, bf16x2, bf16_float, set_bf16)
static const PairForms pair_forms_f16[OPERATORS] = FLOAT_ENTRIES(F16X2_ENTRY, f16x2);
static const PairForms pair_forms_f16_ftz[OPERATORS] = FLOAT_ENTRIES(F16X2_ENTRY, f16x2_ftz);
static const PairForms pair_forms_bf16[OPERATORS] = FLOAT_ENTRIES(BF16X2_ENTRY, bf16x2);

// ---- Selectors --------------------------------------------------------------------------------------------

#define OPERATOR_WORDS                                                                                       \
    (W(eq) | W(ne) | W(lt) | W(le) | W(gt) | W(ge) | W(lo) | W(ls) | W(hi) | W(hs) | W(equ) | W(neu) |       \
     W(ltu) | W(leu) | W(gtu) | W(geu) | W(num) | W(nan))
#define COMBINE_WORDS (W(and) | W(or) | W(xor))

static bool operator_of(const AluForm *f, bool is_unsigned, Operator *relation) {
    switch (f->words & OPERATOR_WORDS) {
    case W(eq): *relation = OP_EQ; return true;
    case W(ne): *relation = OP_NE; return true;
    case W(lt): *relation = OP_LT; return true;
    case W(le): *relation = OP_LE; return true;
    case W(gt): *relation = OP_GT; return true;
    case W(ge): *relation = OP_GE; return true;
    case W(lo): *relation = OP_LT; return is_unsigned;
    case W(ls): *relation = OP_LE; return is_unsigned;
    case W(hi): *relation = OP_GT; return is_unsigned;
    case W(hs): *relation = OP_GE; return is_unsigned;
    case W(equ): *relation = OP_EQU; return true;
    case W(neu): *relation = OP_NEU; return true;
    case W(ltu): *relation = OP_LTU; return true;
    case W(leu): *relation = OP_LEU; return true;
    case W(gtu): *relation = OP_GTU; return true;
    case W(geu): *relation = OP_GEU; return true;
    case W(num): *relation = OP_NUM; return true;
    case W(nan): *relation = OP_NAN; return true;
    default: return false;
    }
}

static bool combine_of(const AluForm *f, Combine *combine) {
    switch (f->words & COMBINE_WORDS) {
    case 0: *combine = COMBINE_NONE; return true;
    case W(and): *combine = COMBINE_AND; return true;
    case W(or): *combine = COMBINE_OR; return true;
    case W(xor): *combine = COMBINE_XOR; return true;
    default: return false;
    }
}

static const ComparisonForms *forms_of(PtxType type, bool ftz, Operator relation) {
    if (ftz && type != PTX_F32 && type != PTX_F16) return NULL;
    switch (type) {
    case PTX_B16: return relation <= OP_NE ? &forms_u16[relation] : NULL;
    case PTX_B32: return relation <= OP_NE ? &forms_u32[relation] : NULL;
    case PTX_B64: return relation <= OP_NE ? &forms_u64[relation] : NULL;
    case PTX_U16: return &forms_u16[relation];
    case PTX_U32: return &forms_u32[relation];
    case PTX_U64: return &forms_u64[relation];
    case PTX_S16: return &forms_s16[relation];
    case PTX_S32: return &forms_s32[relation];
    case PTX_S64: return &forms_s64[relation];
    case PTX_F32: return ftz ? &forms_f32_ftz[relation] : &forms_f32[relation];
    case PTX_F64: return &forms_f64[relation];
    case PTX_F16: return ftz ? &forms_f16_ftz[relation] : &forms_f16[relation];
    case PTX_BF16: return &forms_bf16[relation];
    default: return NULL;
    }
}

static const PairForms *pair_forms_of(PtxType type, bool ftz, Operator relation) {
    if (type == PTX_F16X2) return ftz ? &pair_forms_f16_ftz[relation] : &pair_forms_f16[relation];
    return type == PTX_BF16X2 && !ftz ? &pair_forms_bf16[relation] : NULL;
}

// Reads what setp and set have in common; `type` is the sources'.
static bool comparison(const PtxInstruction *in, AluForm *f, Operator *relation, Combine *combine) {
    if (!alu_form(in, OPERATOR_WORDS | COMBINE_WORDS | W(ftz), f)) return false;
    const bool is_unsigned = f->from == PTX_U16 || f->from == PTX_U32 || f->from == PTX_U64;
    return operator_of(f, is_unsigned, relation) && combine_of(f, combine);
}

bool compare_setp(const PtxInstruction *in, Selection *s) {
    AluForm f;
    Operator relation;
    Combine combine;
    if (!comparison(in, &f, &relation, &combine) || f.from != f.type) return false;
    const bool ftz = f.words & W(ftz);
    AluHandler *handler = NULL;
    if (f.type == PTX_F16X2 || f.type == PTX_BF16X2) {
        const PairForms *forms = pair_forms_of(f.type, ftz, relation);
        if (forms) handler = forms->by[PAIR_TO_PREDICATE][combine];
    } else {
        const ComparisonForms *forms = forms_of(f.type, ftz, relation);
        if (forms) handler = forms->by[TO_PREDICATE][combine];
    }
    if (!CHOOSE(s, handler, PTX_PRED, f.type, f.type, combine == COMBINE_NONE ? PTX_NO_TYPE : PTX_PRED))
        return false;
    if (in->operand_count > 0 && in->operands[0].kind == PTX_OPERAND_PAIR) s->dst[1] = PTX_PRED;
    return true;
}

bool compare_set(const PtxInstruction *in, Selection *s) {
    AluForm f;
    Operator relation;
    Combine combine;
    if (!comparison(in, &f, &relation, &combine)) return false;
    const bool ftz = f.words & W(ftz);
    AluHandler *handler = NULL;
    if (f.from == PTX_F16X2 || f.from == PTX_BF16X2) {
        const PairForms *forms = pair_forms_of(f.from, ftz, relation);
        if (!forms) return false;
        if (f.type == f.from) handler = forms->by[PAIR_TO_HALVES][combine];
        if (f.type == PTX_U32 || f.type == PTX_S32) handler = forms->by[PAIR_TO_MASK][combine];
    } else {
        const ComparisonForms *forms = forms_of(f.from, ftz, relation);
        if (!forms) return false;
        if (f.type == PTX_U32 || f.type == PTX_S32) handler = forms->by[TO_I32][combine];
        if (f.type == PTX_F32) handler = forms->by[TO_F32][combine];
        if (f.type == PTX_U16 || f.type == PTX_S16) handler = forms->by[TO_I16][combine];
        if (f.type == f.from && (f.type == PTX_F16 || f.type == PTX_BF16))
            handler = forms->by[TO_16][combine];
    }
    return CHOOSE(s, handler, f.type, f.from, f.from, combine == COMBINE_NONE ? PTX_NO_TYPE : PTX_PRED);
}

// ---- selp and slct ----------------------------------------------------------------------------------------

#define SELP(N)                                                                                              \
    ALU_HANDLER(selp_##N) {                                                                                  \
        const uint##N##_t *pa = source(registers, in, 0), *pb = source(registers, in, 1);                    \
        const uint32_t p = read_predicate(registers, in, 2);                                                 \
        ALU_LANES(uint##N##_t, const uint##N##_t a = pa[lane];                                               \
                  const uint##N##_t b = pb[lane], p >> lane & 1u ? a : b)                                    \
    }
// slct: a where c >= 0, which -0 is and NaN is not (ISA, slct).
#define SLCT(N)                                                                                              \
    ALU_3(slct_s32_##N, uint##N##_t, uint##N##_t, uint##N##_t, int32_t, c >= 0 ? a : b)                      \
    ALU_3(slct_f32_##N, uint##N##_t, uint##N##_t, uint##N##_t, float, c >= 0.0f ? a : b)                     \
    ALU_3(slct_ftz_##N, uint##N##_t, uint##N##_t, uint##N##_t, float, flush(c) >= 0.0f ? a : b)
SELP(16)
SELP(32)
SELP(64)
SLCT(16)
SLCT(32)
SLCT(64)

#define BY_SIZE(OP)                                                                                          \
    {                                                                                                        \
        [PTX_B16] = OP##_16, [PTX_U16] = OP##_16, [PTX_S16] = OP##_16, [PTX_F16] = OP##_16,                  \
        [PTX_BF16] = OP##_16, [PTX_B32] = OP##_32, [PTX_U32] = OP##_32, [PTX_S32] = OP##_32,                 \
        [PTX_F32] = OP##_32, [PTX_F16X2] = OP##_32, [PTX_BF16X2] = OP##_32, [PTX_B64] = OP##_64,             \
        [PTX_U64] = OP##_64, [PTX_S64] = OP##_64, [PTX_F64] = OP##_64                                        \
    }

bool compare_selp(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_SIZE(selp);
    AluForm f;
    if (!alu_form(in, 0, &f)) return false;
    return CHOOSE(s, table[f.type], f.type, f.type, f.type, PTX_PRED);
}

bool compare_slct(const PtxInstruction *in, Selection *s) {
    static AluHandler *const s32[ALU_TYPES] = BY_SIZE(slct_s32);
    static AluHandler *const f32[ALU_TYPES] = BY_SIZE(slct_f32);
    static AluHandler *const ftz[ALU_TYPES] = BY_SIZE(slct_ftz);
    AluForm f;
    if (!alu_form(in, W(ftz), &f)) return false;
    if (f.from == PTX_S32) return !f.words && CHOOSE(s, s32[f.type], f.type, f.type, f.type, f.from);
    if (f.from != PTX_F32) return false;
    return CHOOSE(s, (f.words ? ftz : f32)[f.type], f.type, f.type, f.type, f.from);
}
