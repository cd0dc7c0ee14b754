// Comparison and selection (ISA, sections of those names, for half precision too): setp, set, selp, slct.
//
// One function a type and operator compares all 32 lanes to a bitmask. A plain setp has a handler of its own
// around it; all other forms share a few handlers, which find the function by Instruction.form, combine the
// mask with a predicate and write it as predicates (setp) or as words (set).
#include "emulator/alu/float_lanes.h"

// ---- One comparison of one type ---------------------------------------------------------------------------

typedef uint32_t Comparison(const unsigned char *registers, const Instruction *in);

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

// Not inlined, or every loop would be translated twice.
#define COMPARE(NAME, T, READ, EXPR)                                                                         \
    __attribute__((noinline)) static uint32_t compare_##NAME(const unsigned char *registers,                 \
                                                             const Instruction *in) {                        \
        const T *pa = source(registers, in, 0), *pb = source(registers, in, 1);                              \
        uint32_t result = 0;                                                                                 \
        for (unsigned lane = 0; lane < WARP_SIZE; lane++) {                                                  \
            const __auto_type a = READ(pa[lane]);                                                            \
            const __auto_type b = READ(pb[lane]);                                                            \
            result |= (uint32_t)(EXPR) << lane;                                                              \
        }                                                                                                    \
        return result;                                                                                       \
    }

// What holds exactly where another comparison does not needs no loop.
#define NEGATED(NAME, OTHER)                                                                                 \
    static uint32_t compare_##NAME(const unsigned char *registers, const Instruction *in) {                  \
        return ~compare_##OTHER(registers, in);                                                              \
    }

#define SAME(x) (x)
#define FLUSHED_F16(x) f16_float(flush_f16(x))
// M makes what belongs to a comparison, N what belongs to the negation of one.
#define EQUALITIES(M, N, TYPE, ...)                                                                          \
    M(TYPE##_eq, __VA_ARGS__, a == b)                                                                        \
    N(TYPE##_ne, TYPE##_eq)
#define INEQUALITIES(M, N, TYPE, ...)                                                                        \
    M(TYPE##_lt, __VA_ARGS__, a < b)                                                                         \
    M(TYPE##_gt, __VA_ARGS__, a > b)                                                                         \
    N(TYPE##_le, TYPE##_gt)                                                                                  \
    N(TYPE##_ge, TYPE##_lt)
// Of floats, lt and its kind are false with a NaN, ltu and its kind true.
#define UNORDERED(a, b) (a != a || b != b)
#define FLOAT_OPERATORS(M, N, TYPE, ...)                                                                     \
    M(TYPE##_eq, __VA_ARGS__, a == b)                                                                        \
    M(TYPE##_ne, __VA_ARGS__, !UNORDERED(a, b) && a != b)                                                    \
    M(TYPE##_lt, __VA_ARGS__, a < b)                                                                         \
    M(TYPE##_le, __VA_ARGS__, a <= b)                                                                        \
    M(TYPE##_gt, __VA_ARGS__, a > b)                                                                         \
    M(TYPE##_ge, __VA_ARGS__, a >= b)                                                                        \
    M(TYPE##_nan, __VA_ARGS__, UNORDERED(a, b))                                                              \
    N(TYPE##_equ, TYPE##_ne)                                                                                 \
    N(TYPE##_neu, TYPE##_eq)                                                                                 \
    N(TYPE##_ltu, TYPE##_ge)                                                                                 \
    N(TYPE##_leu, TYPE##_gt)                                                                                 \
    N(TYPE##_gtu, TYPE##_le)                                                                                 \
    N(TYPE##_geu, TYPE##_lt)                                                                                 \
    N(TYPE##_num, TYPE##_nan)
EQUALITIES(COMPARE, NEGATED, u16, uint16_t, SAME)
EQUALITIES(COMPARE, NEGATED, u32, uint32_t, SAME)
EQUALITIES(COMPARE, NEGATED, u64, uint64_t, SAME)
INEQUALITIES(COMPARE, NEGATED, u16, uint16_t, SAME)
INEQUALITIES(COMPARE, NEGATED, u32, uint32_t, SAME)
INEQUALITIES(COMPARE, NEGATED, u64, uint64_t, SAME)
INEQUALITIES(COMPARE, NEGATED, s16, int16_t, SAME)
INEQUALITIES(COMPARE, NEGATED, s32, int32_t, SAME)
INEQUALITIES(COMPARE, NEGATED, s64, int64_t, SAME)
FLOAT_OPERATORS(COMPARE, NEGATED, f32, float, SAME)
FLOAT_OPERATORS(COMPARE, NEGATED, f32_ftz, float, flush)
FLOAT_OPERATORS(COMPARE, NEGATED, f64, double, SAME)
FLOAT_OPERATORS(COMPARE, NEGATED, f16, uint16_t, f16_float)
FLOAT_OPERATORS(COMPARE, NEGATED, f16_ftz, uint16_t, FLUSHED_F16)
FLOAT_OPERATORS(COMPARE, NEGATED, bf16, uint16_t, bf16_float)

// The rows of the tables below: a type's functions, with PREFIX before their names. Equality does not mind
// signs.
typedef enum {
    ROW_U16,
    ROW_S16,
    ROW_U32,
    ROW_S32,
    ROW_U64,
    ROW_S64,
    ROW_F32,
    ROW_F32_FTZ,
    ROW_F64,
    ROW_F16,
    ROW_F16_FTZ,
    ROW_BF16,
    ROWS
} Row;
#define INTEGER_ENTRIES(PREFIX, TYPE, EQUALITY)                                                              \
    {                                                                                                        \
        [OP_EQ] = PREFIX##EQUALITY##_eq, [OP_NE] = PREFIX##EQUALITY##_ne, [OP_LT] = PREFIX##TYPE##_lt,       \
        [OP_LE] = PREFIX##TYPE##_le, [OP_GT] = PREFIX##TYPE##_gt, [OP_GE] = PREFIX##TYPE##_ge                \
    }
#define FLOAT_ENTRIES(PREFIX, TYPE)                                                                          \
    {                                                                                                        \
        [OP_EQ] = PREFIX##TYPE##_eq, [OP_NE] = PREFIX##TYPE##_ne, [OP_LT] = PREFIX##TYPE##_lt,               \
        [OP_LE] = PREFIX##TYPE##_le, [OP_GT] = PREFIX##TYPE##_gt, [OP_GE] = PREFIX##TYPE##_ge,               \
        [OP_EQU] = PREFIX##TYPE##_equ, [OP_NEU] = PREFIX##TYPE##_neu, [OP_LTU] = PREFIX##TYPE##_ltu,         \
        [OP_LEU] = PREFIX##TYPE##_leu, [OP_GTU] = PREFIX##TYPE##_gtu, [OP_GEU] = PREFIX##TYPE##_geu,         \
        [OP_NUM] = PREFIX##TYPE##_num, [OP_NAN] = PREFIX##TYPE##_nan                                         \
    }
#define EACH_ROW(PREFIX)                                                                                     \
    {                                                                                                        \
        [ROW_U16] = INTEGER_ENTRIES(PREFIX, u16, u16), [ROW_S16] = INTEGER_ENTRIES(PREFIX, s16, u16),        \
        [ROW_U32] = INTEGER_ENTRIES(PREFIX, u32, u32), [ROW_S32] = INTEGER_ENTRIES(PREFIX, s32, u32),        \
        [ROW_U64] = INTEGER_ENTRIES(PREFIX, u64, u64), [ROW_S64] = INTEGER_ENTRIES(PREFIX, s64, u64),        \
        [ROW_F32] = FLOAT_ENTRIES(PREFIX, f32), [ROW_F32_FTZ] = FLOAT_ENTRIES(PREFIX, f32_ftz),              \
        [ROW_F64] = FLOAT_ENTRIES(PREFIX, f64), [ROW_F16] = FLOAT_ENTRIES(PREFIX, f16),                      \
        [ROW_F16_FTZ] = FLOAT_ENTRIES(PREFIX, f16_ftz), [ROW_BF16] = FLOAT_ENTRIES(PREFIX, bf16)             \
    }
static Comparison *const comparisons[ROWS][OPERATORS] = EACH_ROW(compare_);

// ---- What becomes of a bitmask ----------------------------------------------------------------------------

typedef enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR, COMBINES } Combine;

// Instruction.form of all handlers below but those of a plain setp.
static uint16_t form_of(int row, Operator relation, Combine combine) {
    return (uint16_t)((row * OPERATORS + (int)relation) * COMBINES + (int)combine);
}
#define FORM_COMPARISON(table, in)                                                                           \
    ((table)[(in)->form / COMBINES / OPERATORS][(in)->form / COMBINES % OPERATORS])

static inline uint32_t combined(uint32_t t, const unsigned char *registers, const Instruction *in) {
    switch (in->form % COMBINES) {
    case COMBINE_AND: return t & read_predicate(registers, in, 2);
    case COMBINE_OR: return t | read_predicate(registers, in, 2);
    case COMBINE_XOR: return t ^ read_predicate(registers, in, 2);
    default: return t;
    }
}

// setp p|q: p is the comparison, q its complement (ISA, setp).
static inline void write_setp(unsigned char *registers, const Instruction *in, uint32_t mask, uint32_t p,
                              uint32_t q) {
    write_predicate(registers, in, 0, p, mask);
    write_predicate(registers, in, 1, q, mask);
}
#define PLAIN_SETP(NAME, ...)                                                                                \
    ALU_HANDLER(setp_##NAME) {                                                                               \
        const uint32_t t = compare_##NAME(registers, in);                                                    \
        write_setp(registers, in, mask, t, ~t);                                                              \
    }
EQUALITIES(PLAIN_SETP, PLAIN_SETP, u16, )
EQUALITIES(PLAIN_SETP, PLAIN_SETP, u32, )
EQUALITIES(PLAIN_SETP, PLAIN_SETP, u64, )
INEQUALITIES(PLAIN_SETP, PLAIN_SETP, u16, )
INEQUALITIES(PLAIN_SETP, PLAIN_SETP, u32, )
INEQUALITIES(PLAIN_SETP, PLAIN_SETP, u64, )
INEQUALITIES(PLAIN_SETP, PLAIN_SETP, s16, )
INEQUALITIES(PLAIN_SETP, PLAIN_SETP, s32, )
INEQUALITIES(PLAIN_SETP, PLAIN_SETP, s64, )
FLOAT_OPERATORS(PLAIN_SETP, PLAIN_SETP, f32, )
FLOAT_OPERATORS(PLAIN_SETP, PLAIN_SETP, f32_ftz, )
FLOAT_OPERATORS(PLAIN_SETP, PLAIN_SETP, f64, )
FLOAT_OPERATORS(PLAIN_SETP, PLAIN_SETP, f16, )
FLOAT_OPERATORS(PLAIN_SETP, PLAIN_SETP, f16_ftz, )
FLOAT_OPERATORS(PLAIN_SETP, PLAIN_SETP, bf16, )
static AluHandler *const plain_setp[ROWS][OPERATORS] = EACH_ROW(setp_);

// setp p|q with a predicate: it is combined with the comparison and with its complement.
ALU_HANDLER(combined_setp) {
    const uint32_t t = FORM_COMPARISON(comparisons, in)(registers, in);
    write_setp(registers, in, mask, combined(t, registers, in), combined(~t, registers, in));
}

// set: 1.0 in a floating-point destination, all ones in an integer one.
#define SET(NAME, T, TRUE)                                                                                   \
    ALU_HANDLER(set_##NAME) {                                                                                \
        const uint32_t holds = combined(FORM_COMPARISON(comparisons, in)(registers, in), registers, in);     \
        ALU_LANES_RARE(T, (void)0, holds >> lane & 1u ? (TRUE) : 0)                                          \
    }
SET(i32, uint32_t, 0xffffffffu)
SET(f32, uint32_t, 0x3f800000u)
SET(i16, uint16_t, 0xffffu)
SET(f16, uint16_t, 0x3c00u)
SET(bf16, uint16_t, 0x3f80u)

// ---- Packed halves ----------------------------------------------------------------------------------------

// The two halves of each lane compared apart: `low` and `high` are bitmasks over lanes.
typedef struct {
    uint32_t low, high;
} PairMask;
typedef PairMask PairComparison(const unsigned char *registers, const Instruction *in);
#define COMPARE_PAIR(NAME, READ, EXPR)                                                                       \
    static PairMask compare_##NAME(const unsigned char *registers, const Instruction *in) {                  \
        const uint16_t *pa = source(registers, in, 0), *pb = source(registers, in, 1);                       \
        PairMask result = {0, 0};                                                                            \
        for (unsigned i = 0; i < 2 * WARP_SIZE; i++) {                                                       \
            const float a = READ(pa[i]), b = READ(pb[i]);                                                    \
            *(i & 1u ? &result.high : &result.low) |= (uint32_t)(EXPR) << (i / 2);                           \
        }                                                                                                    \
        return result;                                                                                       \
    }
#define NEGATED_PAIR(NAME, OTHER)                                                                            \
    static PairMask compare_##NAME(const unsigned char *registers, const Instruction *in) {                  \
        const PairMask t = compare_##OTHER(registers, in);                                                   \
        return (PairMask){~t.low, ~t.high};                                                                  \
    }
FLOAT_OPERATORS(COMPARE_PAIR, NEGATED_PAIR, f16x2, f16_float)
FLOAT_OPERATORS(COMPARE_PAIR, NEGATED_PAIR, f16x2_ftz, FLUSHED_F16)
FLOAT_OPERATORS(COMPARE_PAIR, NEGATED_PAIR, bf16x2, bf16_float)
typedef enum { PAIR_F16, PAIR_F16_FTZ, PAIR_BF16, PAIR_ROWS } PairRow;
static PairComparison *const pair_comparisons[PAIR_ROWS][OPERATORS] = {
    [PAIR_F16] = FLOAT_ENTRIES(compare_, f16x2),
    [PAIR_F16_FTZ] = FLOAT_ENTRIES(compare_, f16x2_ftz),
    [PAIR_BF16] = FLOAT_ENTRIES(compare_, bf16x2)};

// The bitmasks of the form, each combined with the predicate.
static PairMask compared_pair(const unsigned char *registers, const Instruction *in) {
    const PairMask t = FORM_COMPARISON(pair_comparisons, in)(registers, in);
    return (PairMask){combined(t.low, registers, in), combined(t.high, registers, in)};
}

// setp.f16x2 p|q: p for the low halves, q for the high ones (ISA, half precision setp).
ALU_HANDLER(pair_setp) {
    const PairMask t = compared_pair(registers, in);
    write_setp(registers, in, mask, t.low, t.high);
}
#define PAIR_SET(NAME, TRUE)                                                                                 \
    ALU_HANDLER(pair_set_##NAME) {                                                                           \
        const PairMask t = compared_pair(registers, in);                                                     \
        ALU_LANES_RARE(uint32_t, const uint32_t low = t.low >> lane & 1u ? (TRUE) : 0u;                      \
                       const uint32_t high = t.high >> lane & 1u ? (TRUE) : 0u, low | high << 16)            \
    }
PAIR_SET(mask, 0xffffu)
PAIR_SET(f16, 0x3c00u)
PAIR_SET(bf16, 0x3f80u)

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

// The row of a type, or -1: bits are equal or not and nothing else, integers have no unordered operators.
static int row_of(PtxType type, bool ftz, Operator relation) {
    if (ftz && type != PTX_F32 && type != PTX_F16) return -1;
    switch (type) {
    case PTX_B16: return relation <= OP_NE ? ROW_U16 : -1;
    case PTX_B32: return relation <= OP_NE ? ROW_U32 : -1;
    case PTX_B64: return relation <= OP_NE ? ROW_U64 : -1;
    case PTX_U16: return relation <= OP_GE ? ROW_U16 : -1;
    case PTX_U32: return relation <= OP_GE ? ROW_U32 : -1;
    case PTX_U64: return relation <= OP_GE ? ROW_U64 : -1;
    case PTX_S16: return relation <= OP_GE ? ROW_S16 : -1;
    case PTX_S32: return relation <= OP_GE ? ROW_S32 : -1;
    case PTX_S64: return relation <= OP_GE ? ROW_S64 : -1;
    case PTX_F32: return ftz ? ROW_F32_FTZ : ROW_F32;
    case PTX_F64: return ROW_F64;
    case PTX_F16: return ftz ? ROW_F16_FTZ : ROW_F16;
    case PTX_BF16: return ROW_BF16;
    default: return -1;
    }
}

static int pair_row_of(PtxType type, bool ftz) {
    if (type == PTX_F16X2) return ftz ? PAIR_F16_FTZ : PAIR_F16;
    return type == PTX_BF16X2 && !ftz ? PAIR_BF16 : -1;
}
static bool is_pair(PtxType type) { return type == PTX_F16X2 || type == PTX_BF16X2; }

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
    const bool ftz = f.words & W(ftz), pair = is_pair(f.type);
    const int row = pair ? pair_row_of(f.type, ftz) : row_of(f.type, ftz, relation);
    if (row < 0) return false;
    AluHandler *const handler = pair                      ? pair_setp
                                : combine == COMBINE_NONE ? plain_setp[row][relation]
                                                          : combined_setp;
    if (!CHOOSE(s, handler, PTX_PRED, f.type, f.type, combine == COMBINE_NONE ? PTX_NO_TYPE : PTX_PRED))
        return false;
    s->form = form_of(row, relation, combine);
    if (in->operand_count > 0 && in->operands[0].kind == PTX_OPERAND_PAIR) s->dst[1] = PTX_PRED;
    return true;
}

// The handler of a set by its two types; NULL when there is none.
static AluHandler *set_handler(PtxType to, PtxType from) {
    const bool word = to == PTX_U32 || to == PTX_S32, bf16 = from == PTX_BF16 || from == PTX_BF16X2;
    if (is_pair(from)) return word ? pair_set_mask : to != from ? NULL : bf16 ? pair_set_bf16 : pair_set_f16;
    if (word) return set_i32;
    if (to == PTX_F32) return set_f32;
    // The 16-bit destinations go with half precision.
    if (from != PTX_F16 && !bf16) return NULL;
    if (to == PTX_U16 || to == PTX_S16) return set_i16;
    return to != from ? NULL : bf16 ? set_bf16 : set_f16;
}

bool compare_set(const PtxInstruction *in, Selection *s) {
    AluForm f;
    Operator relation;
    Combine combine;
    if (!comparison(in, &f, &relation, &combine)) return false;
    const bool ftz = f.words & W(ftz);
    const int row = is_pair(f.from) ? pair_row_of(f.from, ftz) : row_of(f.from, ftz, relation);
    if (row < 0) return false;
    const PtxType predicate = combine == COMBINE_NONE ? PTX_NO_TYPE : PTX_PRED;
    if (!CHOOSE(s, set_handler(f.type, f.from), f.type, f.from, f.from, predicate)) return false;
    s->form = form_of(row, relation, combine);
    return true;
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
    RARE_3(slct_s32_##N, uint##N##_t, uint##N##_t, uint##N##_t, int32_t, c >= 0 ? a : b)                     \
    RARE_3(slct_f32_##N, uint##N##_t, uint##N##_t, uint##N##_t, float, c >= 0.0f ? a : b)                    \
    RARE_3(slct_ftz_##N, uint##N##_t, uint##N##_t, uint##N##_t, float, flush(c) >= 0.0f ? a : b)
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
