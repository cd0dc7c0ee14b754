// Integer arithmetic (ISA, section of that name): sums, products, quotients, extremes and dot products.
//
// All sums and products are taken in unsigned arithmetic, where wrapping is defined; a signed handler is
// written only where the sign matters.
#include "emulator/alu/alu.h"

typedef unsigned __int128 Wide;
typedef __int128 SignedWide;

#define EACH_WIDTH(M) M(16) M(32) M(64)
#define EACH_INTEGER(M)                                                                                      \
    M(u16, uint16_t) M(u32, uint32_t) M(u64, uint64_t) M(s16, int16_t) M(s32, int32_t) M(s64, int64_t)

// Tables by type: of handlers that do not mind the sign, of those that do, and of the signed types alone.
#define BY_WIDTH(OP)                                                                                         \
    {                                                                                                        \
        [PTX_U16] = OP##_16, [PTX_U32] = OP##_32, [PTX_U64] = OP##_64, [PTX_S16] = OP##_16,                  \
        [PTX_S32] = OP##_32, [PTX_S64] = OP##_64,                                                            \
    }
#define BY_TYPE(OP)                                                                                          \
    {                                                                                                        \
        [PTX_U16] = OP##_u16, [PTX_U32] = OP##_u32, [PTX_U64] = OP##_u64, [PTX_S16] = OP##_s16,              \
        [PTX_S32] = OP##_s32, [PTX_S64] = OP##_s64,                                                          \
    }
#define BY_SIGNED_WIDTH(OP)                                                                                  \
    { [PTX_S16] = OP##_16, [PTX_S32] = OP##_32, [PTX_S64] = OP##_64 }

// ---- Sums -------------------------------------------------------------------------------------------------

#define ADD(N) ALU_2(add_##N, uint##N##_t, uint##N##_t, uint##N##_t, a + b)
#define SUB(N) ALU_2(sub_##N, uint##N##_t, uint##N##_t, uint##N##_t, a - b)
EACH_WIDTH(ADD)
EACH_WIDTH(SUB)

static inline int32_t clamp_s32(int64_t x) {
    return (int32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
ALU_2(add_sat_s32, int32_t, int32_t, int32_t, clamp_s32((int64_t)a + b))
ALU_2(sub_sat_s32, int32_t, int32_t, int32_t, clamp_s32((int64_t)a - b))

// Two 16-bit results side by side in 32 bits (add, min and max of .u16x2 and .s16x2).
static inline uint32_t pair(uint32_t low, uint32_t high) { return (low & 0xffffu) | high << 16; }
ALU_2(add_16x2, uint32_t, uint32_t, uint32_t, pair(a + b, (a >> 16) + (b >> 16)))

static bool select_sum(const PtxInstruction *in, Selection *s, AluHandler *const *table,
                       AluHandler *saturating, AluHandler *packed) {
    AluForm f;
    if (!alu_form(in, W(sat) | W(u16x2) | W(s16x2), &f)) return false;
    if (f.words & (W(u16x2) | W(s16x2))) {
        if (f.type != PTX_NO_TYPE || f.words & W(sat)) return false;
        return CHOOSE(s, packed, PTX_B32, PTX_B32, PTX_B32);
    }
    if (f.words & W(sat)) {
        if (f.type != PTX_S32) return false;
        return CHOOSE(s, saturating, f.type, f.type, f.type);
    }
    return CHOOSE(s, table[f.type], f.type, f.type, f.type);
}

bool integer_add(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_WIDTH(add);
    return select_sum(in, s, table, add_sat_s32, add_16x2);
}

bool integer_sub(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_WIDTH(sub);
    return select_sum(in, s, table, sub_sat_s32, NULL);
}

// ---- Products ---------------------------------------------------------------------------------------------

// `1u *` keeps 16-bit factors from being promoted to int, where 0xffff * 0xffff would overflow.
#define MUL_LO(N) ALU_2(mul_lo_##N, uint##N##_t, uint##N##_t, uint##N##_t, 1u * a * b)
#define MAD_LO(N) ALU_3(mad_lo_##N, uint##N##_t, uint##N##_t, uint##N##_t, uint##N##_t, 1u * a * b + c)
EACH_WIDTH(MUL_LO)
EACH_WIDTH(MAD_LO)

#define EACH_HIGH(M)                                                                                         \
    M(u16, uint16_t, uint32_t, 16)                                                                           \
    M(s16, int16_t, int32_t, 16)                                                                             \
    M(u32, uint32_t, uint64_t, 32)                                                                           \
    M(s32, int32_t, int64_t, 32) M(u64, uint64_t, Wide, 64) M(s64, int64_t, SignedWide, 64)
#define HIGH(T, P, BITS) (uint64_t)(((P)a * (P)b) >> (BITS))
#define MUL_HI(NAME, T, P, BITS) ALU_2(mul_hi_##NAME, T, T, T, HIGH(T, P, BITS))
#define MAD_HI(NAME, T, P, BITS) RARE_3(mad_hi_##NAME, T, T, T, T, HIGH(T, P, BITS) + (uint64_t)c)
EACH_HIGH(MUL_HI)
EACH_HIGH(MAD_HI)
RARE_3(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t, clamp_s32((((int64_t)a * b) >> 32) + c))

#define MUL_WIDE(NAME, T, D) ALU_2(mul_wide_##NAME, D, T, T, (D)a *(D)b)
#define MAD_WIDE(NAME, T, D, U) ALU_3(mad_wide_##NAME, U, T, T, U, (U)((D)a * (D)b) + c)
MUL_WIDE(u16, uint16_t, uint32_t)
MUL_WIDE(s16, int16_t, int32_t)
MUL_WIDE(u32, uint32_t, uint64_t)
MUL_WIDE(s32, int32_t, int64_t)
MAD_WIDE(u16, uint16_t, uint32_t, uint32_t)
MAD_WIDE(s16, int16_t, int32_t, uint32_t)
MAD_WIDE(u32, uint32_t, uint64_t, uint64_t)
MAD_WIDE(s32, int32_t, int64_t, uint64_t)

static PtxType twice_as_wide(PtxType type) {
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    case PTX_S32: return PTX_S64;
    default: return PTX_NO_TYPE;
    }
}

bool integer_mul(const PtxInstruction *in, Selection *s) {
    static AluHandler *const low[ALU_TYPES] = BY_WIDTH(mul_lo);
    static AluHandler *const high[ALU_TYPES] = BY_TYPE(mul_hi);
    static AluHandler *const wide[ALU_TYPES] = {[PTX_U16] = mul_wide_u16,
                                                [PTX_S16] = mul_wide_s16,
                                                [PTX_U32] = mul_wide_u32,
                                                [PTX_S32] = mul_wide_s32};
    AluForm f;
    if (!alu_form(in, W(lo) | W(hi) | W(wide), &f)) return false;
    switch (f.words) {
    case W(lo): return CHOOSE(s, low[f.type], f.type, f.type, f.type);
    case W(hi): return CHOOSE(s, high[f.type], f.type, f.type, f.type);
    case W(wide): return CHOOSE(s, wide[f.type], twice_as_wide(f.type), f.type, f.type);
    default: return false;
    }
}

bool integer_mad(const PtxInstruction *in, Selection *s) {
    static AluHandler *const low[ALU_TYPES] = BY_WIDTH(mad_lo);
    static AluHandler *const high[ALU_TYPES] = BY_TYPE(mad_hi);
    static AluHandler *const wide[ALU_TYPES] = {[PTX_U16] = mad_wide_u16,
                                                [PTX_S16] = mad_wide_s16,
                                                [PTX_U32] = mad_wide_u32,
                                                [PTX_S32] = mad_wide_s32};
    AluForm f;
    if (!alu_form(in, W(lo) | W(hi) | W(wide) | W(sat), &f)) return false;
    switch (f.words) {
    case W(lo): return CHOOSE(s, low[f.type], f.type, f.type, f.type, f.type);
    case W(hi): return CHOOSE(s, high[f.type], f.type, f.type, f.type, f.type);
    case W(hi) | W(sat):
        if (f.type != PTX_S32) return false;
        return CHOOSE(s, mad_hi_sat_s32, f.type, f.type, f.type, f.type);
    case W(wide): {
        const PtxType d = twice_as_wide(f.type);
        return CHOOSE(s, wide[f.type], d, f.type, f.type, d);
    }
    default: return false;
    }
}

// mul24 and mad24 (ISA, sections of those names): factors are the low 24 bits; .lo takes bits 31..0 of the
// 48-bit product, .hi bits 47..16.
static inline uint64_t product_u24(uint32_t a, uint32_t b) {
    return (uint64_t)(a & 0xffffffu) * (b & 0xffffffu);
}
static inline int64_t product_s24(int32_t a, int32_t b) {
    return (int64_t)((int32_t)((uint32_t)a << 8) >> 8) * ((int32_t)((uint32_t)b << 8) >> 8);
}
RARE_2(mul24_lo_u32, uint32_t, uint32_t, uint32_t, product_u24(a, b))
RARE_2(mul24_hi_u32, uint32_t, uint32_t, uint32_t, product_u24(a, b) >> 16)
RARE_2(mul24_lo_s32, uint32_t, int32_t, int32_t, product_s24(a, b))
RARE_2(mul24_hi_s32, uint32_t, int32_t, int32_t, product_s24(a, b) >> 16)
RARE_3(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, product_u24(a, b) + c)
RARE_3(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (product_u24(a, b) >> 16) + c)
RARE_3(mad24_lo_s32, uint32_t, int32_t, int32_t, int32_t, product_s24(a, b) + c)
RARE_3(mad24_hi_s32, uint32_t, int32_t, int32_t, int32_t, (product_s24(a, b) >> 16) + c)
RARE_3(mad24_hi_sat_s32, int32_t, int32_t, int32_t, int32_t,
       clamp_s32((int32_t)(product_s24(a, b) >> 16) + (int64_t)c))

bool integer_mul24(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(lo) | W(hi), &f) || (f.type != PTX_U32 && f.type != PTX_S32)) return false;
    const bool is_signed = f.type == PTX_S32;
    switch (f.words) {
    case W(lo): return CHOOSE(s, is_signed ? mul24_lo_s32 : mul24_lo_u32, f.type, f.type, f.type);
    case W(hi): return CHOOSE(s, is_signed ? mul24_hi_s32 : mul24_hi_u32, f.type, f.type, f.type);
    default: return false;
    }
}

bool integer_mad24(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(lo) | W(hi) | W(sat), &f) || (f.type != PTX_U32 && f.type != PTX_S32)) return false;
    const bool is_signed = f.type == PTX_S32;
    switch (f.words) {
    case W(lo): return CHOOSE(s, is_signed ? mad24_lo_s32 : mad24_lo_u32, f.type, f.type, f.type, f.type);
    case W(hi): return CHOOSE(s, is_signed ? mad24_hi_s32 : mad24_hi_u32, f.type, f.type, f.type, f.type);
    case W(hi) | W(sat): return is_signed && CHOOSE(s, mad24_hi_sat_s32, f.type, f.type, f.type, f.type);
    default: return false;
    }
}

// ---- Quotients --------------------------------------------------------------------------------------------

// Division by zero is unspecified in PTX (ISA, div); an H200 gives all ones, for remainders too.
// INT_MIN / -1 wraps to INT_MIN.
//
// 16- and 32-bit quotients go through double, which vectorises. They are exact: a quotient that is not an
// integer is at least 1/b below the next one, a relative distance of 1/(a + b) > 2^-34, and a double is
// good to 2^-53.
static inline int64_t quotient_narrow(int64_t a, int64_t b) {
    const double divisor = b == 0 ? 1.0 : (double)b;
    const int64_t q = (int64_t)((double)a / divisor);
    return b == 0 ? -1 : q;
}
static inline int64_t remainder_narrow(int64_t a, int64_t b) {
    return b == 0 ? -1 : a - quotient_narrow(a, b) * b;
}
static inline uint64_t quotient_u64(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }
static inline uint64_t remainder_u64(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a % b; }
static inline int64_t quotient_s64(int64_t a, int64_t b) {
    if (b == 0) return -1;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t remainder_s64(int64_t a, int64_t b) {
    if (b == 0) return -1;
    return b == -1 ? 0 : a % b;
}
#define NARROW(M) M(u16, uint16_t) M(u32, uint32_t) M(s16, int16_t) M(s32, int32_t)
#define DIV(NAME, T) ALU_2(div_##NAME, T, T, T, quotient_narrow(a, b))
#define REM(NAME, T) ALU_2(rem_##NAME, T, T, T, remainder_narrow(a, b))
NARROW(DIV)
NARROW(REM)
ALU_2(div_u64, uint64_t, uint64_t, uint64_t, quotient_u64(a, b))
ALU_2(rem_u64, uint64_t, uint64_t, uint64_t, remainder_u64(a, b))
ALU_2(div_s64, int64_t, int64_t, int64_t, quotient_s64(a, b))
ALU_2(rem_s64, int64_t, int64_t, int64_t, remainder_s64(a, b))

static bool select_plain(const PtxInstruction *in, Selection *s, AluHandler *const *table, int sources) {
    AluForm f;
    if (!alu_form(in, 0, &f)) return false;
    const PtxType t = f.type;
    return CHOOSE(s, table[t], t, t, sources > 1 ? t : PTX_NO_TYPE);
}

bool integer_div(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_TYPE(div);
    return select_plain(in, s, table, 2);
}

bool integer_rem(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_TYPE(rem);
    return select_plain(in, s, table, 2);
}

// ---- Magnitudes and extremes ------------------------------------------------------------------------------

#define NEG(N) ALU_1(neg_##N, uint##N##_t, uint##N##_t, 0u - a)
#define ABS(N) ALU_1(abs_##N, uint##N##_t, int##N##_t, a < 0 ? 0u - (uint##N##_t)a : (uint##N##_t)a)
EACH_WIDTH(NEG)
EACH_WIDTH(ABS)

bool integer_neg(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_SIGNED_WIDTH(neg);
    return select_plain(in, s, table, 1);
}

bool integer_abs(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_SIGNED_WIDTH(abs);
    return select_plain(in, s, table, 1);
}

// sad: c + |a - b| (ISA, sad).
#define SAD(NAME, T)                                                                                         \
    RARE_3(sad_##NAME, T, T, T, T,                                                                           \
           (uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))
EACH_INTEGER(SAD)

bool integer_sad(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_TYPE(sad);
    AluForm f;
    if (!alu_form(in, 0, &f)) return false;
    return CHOOSE(s, table[f.type], f.type, f.type, f.type, f.type);
}

#define LESSER(x, y) ((x) < (y) ? (x) : (y))
#define GREATER(x, y) ((x) > (y) ? (x) : (y))
#define MIN(NAME, T) ALU_2(min_##NAME, T, T, T, LESSER(a, b))
#define MAX(NAME, T) ALU_2(max_##NAME, T, T, T, GREATER(a, b))
EACH_INTEGER(MIN)
EACH_INTEGER(MAX)
RARE_2(min_relu_s32, int32_t, int32_t, int32_t, GREATER(LESSER(a, b), 0))
RARE_2(max_relu_s32, int32_t, int32_t, int32_t, GREATER(GREATER(a, b), 0))

// The packed forms: T is the type of one half.
#define EACH_HALF(T, F) pair((uint32_t)F((T)a, (T)b), (uint32_t)F((T)(a >> 16), (T)(b >> 16)))
#define LESSER_RELU(x, y) GREATER(LESSER(x, y), 0)
#define GREATER_RELU(x, y) GREATER(GREATER(x, y), 0)
RARE_2(min_u16x2, uint32_t, uint32_t, uint32_t, EACH_HALF(uint16_t, LESSER))
RARE_2(max_u16x2, uint32_t, uint32_t, uint32_t, EACH_HALF(uint16_t, GREATER))
RARE_2(min_s16x2, uint32_t, uint32_t, uint32_t, EACH_HALF(int16_t, LESSER))
RARE_2(max_s16x2, uint32_t, uint32_t, uint32_t, EACH_HALF(int16_t, GREATER))
RARE_2(min_relu_s16x2, uint32_t, uint32_t, uint32_t, EACH_HALF(int16_t, LESSER_RELU))
RARE_2(max_relu_s16x2, uint32_t, uint32_t, uint32_t, EACH_HALF(int16_t, GREATER_RELU))

typedef struct {
    AluHandler *u16x2, *s16x2, *relu_s16x2, *relu_s32;
} ExtremeForms;

static bool select_extreme(const PtxInstruction *in, Selection *s, AluHandler *const *table,
                           const ExtremeForms *special) {
    AluForm f;
    if (!alu_form(in, W(relu) | W(u16x2) | W(s16x2), &f)) return false;
    const bool packed = f.words & (W(u16x2) | W(s16x2));
    if (packed && f.type != PTX_NO_TYPE) return false;
    switch (f.words) {
    case 0: return CHOOSE(s, table[f.type], f.type, f.type, f.type);
    case W(relu): return f.type == PTX_S32 && CHOOSE(s, special->relu_s32, f.type, f.type, f.type);
    case W(u16x2): return CHOOSE(s, special->u16x2, PTX_B32, PTX_B32, PTX_B32);
    case W(s16x2): return CHOOSE(s, special->s16x2, PTX_B32, PTX_B32, PTX_B32);
    case W(s16x2) | W(relu): return CHOOSE(s, special->relu_s16x2, PTX_B32, PTX_B32, PTX_B32);
    default: return false;
    }
}

bool integer_min(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_TYPE(min);
    static const ExtremeForms special = {min_u16x2, min_s16x2, min_relu_s16x2, min_relu_s32};
    return select_extreme(in, s, table, &special);
}

bool integer_max(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_TYPE(max);
    static const ExtremeForms special = {max_u16x2, max_s16x2, max_relu_s16x2, max_relu_s32};
    return select_extreme(in, s, table, &special);
}

// ---- Dot products (ISA, dp4a and dp2a) --------------------------------------------------------------------

// Byte and 16-bit element k of a register, widened by the type T of the element.
#define ELEMENT(T, x, k, bits) ((int64_t)(T)((x) >> ((bits) * (k))))
#define DOT_4(A, B)                                                                                          \
    (ELEMENT(A, a, 0, 8) * ELEMENT(B, b, 0, 8) + ELEMENT(A, a, 1, 8) * ELEMENT(B, b, 1, 8) +                 \
     ELEMENT(A, a, 2, 8) * ELEMENT(B, b, 2, 8) + ELEMENT(A, a, 3, 8) * ELEMENT(B, b, 3, 8))
#define DOT_2(A, B, FIRST)                                                                                   \
    (ELEMENT(A, a, 0, 16) * ELEMENT(B, b, FIRST, 8) + ELEMENT(A, a, 1, 16) * ELEMENT(B, b, (FIRST) + 1, 8))
#define EACH_SIGNS(M) M(uu, uint, uint) M(us, uint, int) M(su, int, uint) M(ss, int, int)
#define DP4A(NAME, A, B)                                                                                     \
    RARE_3(dp4a_##NAME, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)DOT_4(A##8_t, B##8_t) + c)
#define DP2A(NAME, A, B)                                                                                     \
    RARE_3(dp2a_lo_##NAME, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)DOT_2(A##16_t, B##8_t, 0) + c)  \
    RARE_3(dp2a_hi_##NAME, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)DOT_2(A##16_t, B##8_t, 2) + c)
EACH_SIGNS(DP4A)
EACH_SIGNS(DP2A)

// 0 to 3 by the signs of the two factors: uu, us, su, ss; -1 for other types.
static int signs(const AluForm *f) {
    if ((f->type != PTX_U32 && f->type != PTX_S32) || (f->from != PTX_U32 && f->from != PTX_S32)) return -1;
    return 2 * (f->type == PTX_S32) + (f->from == PTX_S32);
}

bool integer_dp4a(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[] = {dp4a_uu, dp4a_us, dp4a_su, dp4a_ss};
    AluForm f;
    if (!alu_form(in, 0, &f) || signs(&f) < 0) return false;
    return CHOOSE(s, table[signs(&f)], PTX_B32, PTX_B32, PTX_B32, PTX_B32);
}

bool integer_dp2a(const PtxInstruction *in, Selection *s) {
    static AluHandler *const low[] = {dp2a_lo_uu, dp2a_lo_us, dp2a_lo_su, dp2a_lo_ss};
    static AluHandler *const high[] = {dp2a_hi_uu, dp2a_hi_us, dp2a_hi_su, dp2a_hi_ss};
    AluForm f;
    if (!alu_form(in, W(lo) | W(hi), &f) || signs(&f) < 0) return false;
    if (f.words != W(lo) && f.words != W(hi)) return false;
    return CHOOSE(s, (f.words == W(lo) ? low : high)[signs(&f)], PTX_B32, PTX_B32, PTX_B32, PTX_B32);
}
