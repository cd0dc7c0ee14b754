// Logic, shifts and bit fields (ISA, Logic and Shift Instructions, and the bit instructions among the integer
// ones).
#include "emulator/alu/alu.h"

#define EACH_WIDTH(M) M(16) M(32) M(64)
#define BY_BITS(OP)                                                                                          \
    { [PTX_B16] = OP##_16, [PTX_B32] = OP##_32, [PTX_B64] = OP##_64 }

// ---- and, or, xor, not: of words and of predicates --------------------------------------------------------

#define AND(N) ALU_2(and_##N, uint##N##_t, uint##N##_t, uint##N##_t, a &b)
#define OR(N) ALU_2(or_##N, uint##N##_t, uint##N##_t, uint##N##_t, a | b)
#define XOR(N) ALU_2(xor_##N, uint##N##_t, uint##N##_t, uint##N##_t, a ^ b)
#define NOT(N) ALU_1(complement_##N, uint##N##_t, uint##N##_t, ~a)
#define CNOT(N) RARE_1(cnot_##N, uint##N##_t, uint##N##_t, a == 0)
EACH_WIDTH(AND)
EACH_WIDTH(OR)
EACH_WIDTH(XOR)
EACH_WIDTH(NOT)
EACH_WIDTH(CNOT)

#define PREDICATES(NAME, EXPR)                                                                               \
    ALU_HANDLER(NAME) {                                                                                      \
        const uint32_t a = read_predicate(registers, in, 0);                                                 \
        const uint32_t b = in->src_count > 1 ? read_predicate(registers, in, 1) : 0;                         \
        (void)b;                                                                                             \
        write_predicate(registers, in, 0, EXPR, mask);                                                       \
    }
PREDICATES(and_pred, a &b)
PREDICATES(or_pred, a | b)
PREDICATES(xor_pred, a ^ b)
PREDICATES(complement_pred, ~a)

static bool select_logic(const PtxInstruction *in, Selection *s, AluHandler *const *table, int sources) {
    AluForm f;
    if (!alu_form(in, 0, &f)) return false;
    return CHOOSE(s, table[f.type], f.type, f.type, sources > 1 ? f.type : PTX_NO_TYPE);
}

#define LOGIC(OP)                                                                                            \
    { [PTX_PRED] = OP##_pred, [PTX_B16] = OP##_16, [PTX_B32] = OP##_32, [PTX_B64] = OP##_64 }

bool bits_and(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = LOGIC(and);
    return select_logic(in, s, table, 2);
}

bool bits_or(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = LOGIC(or);
    return select_logic(in, s, table, 2);
}

bool bits_xor(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = LOGIC(xor);
    return select_logic(in, s, table, 2);
}

bool bits_not(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = LOGIC(complement);
    return select_logic(in, s, table, 1);
}

bool bits_cnot(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_BITS(cnot);
    return select_logic(in, s, table, 1);
}

// ---- lop3: any function of three bits ---------------------------------------------------------------------

// x where s is 0, y where it is 1.
static inline uint32_t choose(uint32_t s, uint32_t x, uint32_t y) { return x ^ ((x ^ y) & s); }

// Bit (4a + 2b + c) of the table is the result for bits a, b, c (ISA, lop3): a tree of choices whose
// leaves are the table's bits spread over a word.
typedef struct {
    uint32_t leaf[8];
} TruthTable;

static inline TruthTable truth_table(uint32_t table) {
    TruthTable t;
    for (unsigned i = 0; i < 8; i++) t.leaf[i] = 0u - (table >> i & 1u);
    return t;
}

static inline uint32_t look_up(const TruthTable *t, uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t low = choose(b, choose(c, t->leaf[0], t->leaf[1]), choose(c, t->leaf[2], t->leaf[3]));
    const uint32_t high = choose(b, choose(c, t->leaf[4], t->leaf[5]), choose(c, t->leaf[6], t->leaf[7]));
    return choose(a, low, high);
}

ALU_HANDLER(lop3) {
    const TruthTable table = truth_table(in->literal[0]);
    const uint32_t *pa = source(registers, in, 0), *pb = source(registers, in, 1),
                   *pc = source(registers, in, 2);
    ALU_LANES(uint32_t, (void)0, look_up(&table, pa[lane], pb[lane], pc[lane]))
}

// lop3.BoolOp.b32 d|p, a, b, c, table, q: p is whether d is not zero, combined with q. The table
// comes before q, so it is an operand and not a trailing literal.
static uint32_t lop3_with_predicate(unsigned char *registers, const Instruction *in, uint32_t mask) {
    const uint32_t *pa = source(registers, in, 0), *pb = source(registers, in, 1),
                   *pc = source(registers, in, 2);
    const TruthTable table = truth_table(*(const uint32_t *)source(registers, in, 3));
    uint32_t nonzero = 0;
    uint32_t *d = in->dst[0] < 0 ? NULL : destination(registers, in, 0);
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
        const uint32_t result = look_up(&table, pa[lane], pb[lane], pc[lane]);
        nonzero |= (uint32_t)(result != 0) << lane;
        if (d && mask >> lane & 1u) d[lane] = result;
    }
    return nonzero;
}
ALU_HANDLER(lop3_and) {
    const uint32_t q = read_predicate(registers, in, 4);
    write_predicate(registers, in, 1, lop3_with_predicate(registers, in, mask) & q, mask);
}
ALU_HANDLER(lop3_or) {
    const uint32_t q = read_predicate(registers, in, 4);
    write_predicate(registers, in, 1, lop3_with_predicate(registers, in, mask) | q, mask);
}

bool bits_lop3(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(and) | W(or), &f) || f.type != PTX_B32) return false;
    if (f.words == 0) {
        if (!CHOOSE(s, lop3, PTX_B32, PTX_B32, PTX_B32, PTX_B32)) return false;
        s->literals = 1;
        return true;
    }
    if (f.words != W(and) && f.words != W(or)) return false;
    if (!CHOOSE(s, f.words == W(and) ? lop3_and : lop3_or, PTX_B32, PTX_B32, PTX_B32, PTX_B32, PTX_U32,
                PTX_PRED))
        return false;
    s->dst[1] = PTX_PRED;
    return true;
}

// ---- Shifts: amounts beyond the width clamp to it (ISA, shl and shr) --------------------------------------

#define SHL(N) ALU_2(shl_##N, uint##N##_t, uint##N##_t, uint32_t, b < N ? (uint64_t)a << (b & (N - 1)) : 0)
#define SHR_U(N) ALU_2(shr_u_##N, uint##N##_t, uint##N##_t, uint32_t, b < N ? a >> (b & (N - 1)) : 0)
#define SHR_S(N) ALU_2(shr_s_##N, int##N##_t, int##N##_t, uint32_t, a >> (b < N ? b : N - 1))
SHL(16)
SHR_U(16)
SHR_S(16)
ALU_2(shl_32, uint32_t, uint32_t, uint32_t, b < 32 ? a << (b & 31) : 0)
SHR_U(32)
SHR_S(32)
SHL(64)
SHR_U(64)
SHR_S(64)

static bool select_shift(const PtxInstruction *in, Selection *s, AluHandler *const *table) {
    AluForm f;
    if (!alu_form(in, 0, &f)) return false;
    return CHOOSE(s, table[f.type], f.type, f.type, PTX_U32);
}

bool bits_shl(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = BY_BITS(shl);
    return select_shift(in, s, table);
}

bool bits_shr(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = {
        [PTX_B16] = shr_u_16, [PTX_B32] = shr_u_32, [PTX_B64] = shr_u_64,
        [PTX_U16] = shr_u_16, [PTX_U32] = shr_u_32, [PTX_U64] = shr_u_64,
        [PTX_S16] = shr_s_16, [PTX_S32] = shr_s_32, [PTX_S64] = shr_s_64};
    return select_shift(in, s, table);
}

// Funnel shifts (ISA, shf): a is the low word and b the high; .l takes the high word of the shifted
// pair, .r the low.
#define CLAMPED(c) ((c) < 32 ? (c) : 32)
#define FUNNEL(a, b) ((uint64_t)(b) << 32 | (a))
ALU_3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL(a, b) << (c & 31) >> 32)
ALU_3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL(a, b) << CLAMPED(c) >> 32)
ALU_3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL(a, b) >> (c & 31))
ALU_3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, FUNNEL(a, b) >> CLAMPED(c))

bool bits_shf(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(l) | W(r) | W(clamp) | W(wrap), &f) || f.type != PTX_B32) return false;
    AluHandler *handler = NULL;
    if (f.words == (W(l) | W(wrap))) handler = shf_l_wrap;
    if (f.words == (W(l) | W(clamp))) handler = shf_l_clamp;
    if (f.words == (W(r) | W(wrap))) handler = shf_r_wrap;
    if (f.words == (W(r) | W(clamp))) handler = shf_r_clamp;
    return CHOOSE(s, handler, PTX_B32, PTX_B32, PTX_B32, PTX_U32);
}

// ---- Counting and finding bits ----------------------------------------------------------------------------

static inline uint32_t leading_zeros_32(uint32_t x) { return x ? (uint32_t)__builtin_clz(x) : 32; }
static inline uint32_t leading_zeros_64(uint64_t x) { return x ? (uint32_t)__builtin_clzll(x) : 64; }
ALU_1(popc_32, uint32_t, uint32_t, __builtin_popcount(a))
ALU_1(popc_64, uint32_t, uint64_t, __builtin_popcountll(a))
ALU_1(clz_32, uint32_t, uint32_t, leading_zeros_32(a))
ALU_1(clz_64, uint32_t, uint64_t, leading_zeros_64(a))

bool bits_popc(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = {[PTX_B32] = popc_32, [PTX_B64] = popc_64};
    AluForm f;
    return alu_form(in, 0, &f) && CHOOSE(s, table[f.type], PTX_U32, f.type);
}

bool bits_clz(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = {[PTX_B32] = clz_32, [PTX_B64] = clz_64};
    AluForm f;
    return alu_form(in, 0, &f) && CHOOSE(s, table[f.type], PTX_U32, f.type);
}

// bfind (ISA): where the highest bit is that differs from the sign; all ones when there is none.
// .shiftamt counts from the top instead. Both are one formula in the number of leading zeros.
#define UNSIGNED_BITS(a) (a)
#define DIFFERENT_FROM_SIGN(a) ((a) < 0 ? ~(a) : (a))
#define BFIND(NAME, N, T, BITS)                                                                              \
    RARE_1(bfind_##NAME, uint32_t, T, N##u - 1u - leading_zeros_##N((uint##N##_t)BITS(a)))                   \
    RARE_1(bfind_shift_##NAME, uint32_t, T,                                                                  \
           BITS(a) == 0 ? FULL_MASK : leading_zeros_##N((uint##N##_t)BITS(a)))
BFIND(u32, 32, uint32_t, UNSIGNED_BITS)
BFIND(u64, 64, uint64_t, UNSIGNED_BITS)
BFIND(s32, 32, int32_t, DIFFERENT_FROM_SIGN)
BFIND(s64, 64, int64_t, DIFFERENT_FROM_SIGN)

bool bits_bfind(const PtxInstruction *in, Selection *s) {
    static AluHandler *const position[ALU_TYPES] = {
        [PTX_U32] = bfind_u32, [PTX_U64] = bfind_u64, [PTX_S32] = bfind_s32, [PTX_S64] = bfind_s64};
    static AluHandler *const shift[ALU_TYPES] = {[PTX_U32] = bfind_shift_u32,
                                                 [PTX_U64] = bfind_shift_u64,
                                                 [PTX_S32] = bfind_shift_s32,
                                                 [PTX_S64] = bfind_shift_s64};
    AluForm f;
    if (!alu_form(in, W(shiftamt), &f)) return false;
    return CHOOSE(s, (f.words ? shift : position)[f.type], PTX_U32, f.type);
}

// fns (ISA): the position of the offset-th set bit from `base` on, upwards or downwards.
static uint32_t nth_set_bit(uint32_t bits, uint32_t base, int32_t offset) {
    if (base >= 32) return FULL_MASK; // undefined in PTX
    if (offset == 0) return bits >> base & 1u ? base : FULL_MASK;
    const int step = offset > 0 ? 1 : -1;
    uint32_t count = offset > 0 ? (uint32_t)offset : 0u - (uint32_t)offset;
    for (int position = (int)base; position >= 0 && position < 32; position += step)
        if (bits >> position & 1u && --count == 0) return (uint32_t)position;
    return FULL_MASK;
}
RARE_3(fns, uint32_t, uint32_t, uint32_t, int32_t, nth_set_bit(a, b, c))

bool bits_fns(const PtxInstruction *in, Selection *s) {
    AluForm f;
    return alu_form(in, 0, &f) && f.type == PTX_B32 && CHOOSE(s, fns, PTX_B32, PTX_B32, PTX_B32, PTX_S32);
}

// ---- Rearranging bits -------------------------------------------------------------------------------------

static inline uint64_t reversed_64(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}
ALU_1(brev_32, uint32_t, uint32_t, reversed_64(a) >> 32)
RARE_1(brev_64, uint64_t, uint64_t, reversed_64(a))

bool bits_brev(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = {[PTX_B32] = brev_32, [PTX_B64] = brev_64};
    AluForm f;
    return alu_form(in, 0, &f) && CHOOSE(s, table[f.type], f.type, f.type);
}

// The low `length` bits set, for any length.
static inline uint64_t low_bits(uint32_t length) {
    return length < 64 ? (UINT64_C(1) << length) - 1 : UINT64_MAX;
}

// A position or length of bfe and bfi. The ISA takes its low 8 bits; an H200 does for 32-bit fields, but
// clamps the whole of it for 64-bit ones, which is what kernels meet. Values above 255 are invalid PTX
// anyway.
static inline uint32_t field_operand(uint32_t x, uint32_t bits) {
    return bits == 32 ? x & 0xff : x < 255 ? x : 255;
}

// bfe (ISA): the field of `length` bits from `position` on; what lies beyond the top, and the bits
// above the field in a signed form, are the field's top bit (0 in an unsigned form).
static inline uint64_t field(uint64_t a, uint32_t position, uint32_t length, uint32_t bits, bool is_signed) {
    position = field_operand(position, bits);
    length = field_operand(length, bits);
    if (length == 0) return 0;
    const uint32_t last = position + length - 1 < bits - 1 ? position + length - 1 : bits - 1;
    const uint64_t fill = is_signed && a >> last & 1 ? UINT64_MAX : 0;
    if (position >= bits) return fill;
    const uint64_t have = low_bits(last - position + 1);
    return (a >> position & have) | (fill & ~have);
}
#define BFE(NAME, T, BITS, SIGNED) ALU_3(bfe_##NAME, T, T, uint32_t, uint32_t, field(a, b, c, BITS, SIGNED))
BFE(u32, uint32_t, 32, false)
BFE(u64, uint64_t, 64, false)
BFE(s32, uint32_t, 32, true)
BFE(s64, uint64_t, 64, true)

bool bits_bfe(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = {
        [PTX_U32] = bfe_u32, [PTX_U64] = bfe_u64, [PTX_S32] = bfe_s32, [PTX_S64] = bfe_s64};
    AluForm f;
    return alu_form(in, 0, &f) && CHOOSE(s, table[f.type], f.type, f.type, PTX_U32, PTX_U32);
}

// bfi (ISA): the low `length` bits of a put over b at `position`; what does not fit is dropped.
static inline uint64_t inserted(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t bits) {
    position = field_operand(position, bits);
    length = field_operand(length, bits);
    if (position >= bits) return b;
    const uint64_t covered = low_bits(length) << position;
    return (b & ~covered) | (a << position & covered);
}
#define BFI(N)                                                                                               \
    ALU_HANDLER(bfi_##N) {                                                                                   \
        const uint##N##_t *pa = source(registers, in, 0), *pb = source(registers, in, 1);                    \
        const uint32_t *pc = source(registers, in, 2), *pd = source(registers, in, 3);                       \
        ALU_LANES(uint##N##_t, (void)0, inserted(pa[lane], pb[lane], pc[lane], pd[lane], N))                 \
    }
BFI(32)
BFI(64)

bool bits_bfi(const PtxInstruction *in, Selection *s) {
    static AluHandler *const table[ALU_TYPES] = {[PTX_B32] = bfi_32, [PTX_B64] = bfi_64};
    AluForm f;
    return alu_form(in, 0, &f) && CHOOSE(s, table[f.type], f.type, f.type, f.type, PTX_U32, PTX_U32);
}

// bmsk (ISA): b ones from bit a on. .clamp cuts a and b off at 32, .wrap takes them modulo 32.
static inline uint32_t mask_clamped(uint32_t a, uint32_t b) {
    return a < 32 ? (uint32_t)(low_bits(b < 32 ? b : 32) << a) : 0;
}
RARE_2(bmsk_clamp, uint32_t, uint32_t, uint32_t, mask_clamped(a, b))
RARE_2(bmsk_wrap, uint32_t, uint32_t, uint32_t, mask_clamped(a & 31, b & 31))

bool bits_bmsk(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(clamp) | W(wrap), &f) || f.type != PTX_B32) return false;
    if (f.words != W(clamp) && f.words != W(wrap)) return false;
    return CHOOSE(s, f.words == W(clamp) ? bmsk_clamp : bmsk_wrap, PTX_B32, PTX_B32, PTX_B32);
}

// szext (ISA): a cut to its low b bits and extended again.
static inline uint32_t extended(uint32_t a, uint32_t b, bool is_signed) {
    if (b >= 32) return a;
    const uint32_t have = (1u << b) - 1;
    const bool negative = is_signed && b > 0 && a >> (b - 1) & 1u;
    return negative ? a | ~have : a & have;
}
RARE_2(szext_clamp_u32, uint32_t, uint32_t, uint32_t, extended(a, b, false))
RARE_2(szext_clamp_s32, uint32_t, uint32_t, uint32_t, extended(a, b, true))
RARE_2(szext_wrap_u32, uint32_t, uint32_t, uint32_t, extended(a, b & 31, false))
RARE_2(szext_wrap_s32, uint32_t, uint32_t, uint32_t, extended(a, b & 31, true))

bool bits_szext(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(clamp) | W(wrap), &f) || (f.type != PTX_U32 && f.type != PTX_S32)) return false;
    const bool is_signed = f.type == PTX_S32;
    AluHandler *handler = NULL;
    if (f.words == W(clamp)) handler = is_signed ? szext_clamp_s32 : szext_clamp_u32;
    if (f.words == W(wrap)) handler = is_signed ? szext_wrap_s32 : szext_wrap_u32;
    return CHOOSE(s, handler, f.type, f.type, PTX_U32);
}

// ---- prmt: any four of eight bytes ------------------------------------------------------------------------

// Each nibble of the selector names a byte of the pair {b, a}; its top bit asks for the byte's sign spread
// over all eight bits.
static inline uint32_t picked_byte(uint64_t bytes, uint32_t selector, unsigned k) {
    const uint32_t nibble = selector >> (4 * k);
    const uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 0xffu;
    const uint32_t sign = byte & 0x80u ? 0xffu : 0;
    return (nibble & 8u ? sign : byte) << (8 * k);
}
static inline uint32_t picked_bytes(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = FUNNEL(a, b);
    return picked_byte(bytes, selector, 0) | picked_byte(bytes, selector, 1) |
           picked_byte(bytes, selector, 2) | picked_byte(bytes, selector, 3);
}
ALU_3(prmt, uint32_t, uint32_t, uint32_t, uint32_t, picked_bytes(a, b, c))

// The modes (ISA, prmt) are four fixed selectors each, by the low two bits of c.
#define PRMT_MODE(NAME, S0, S1, S2, S3)                                                                      \
    RARE_3(prmt_##NAME, uint32_t, uint32_t, uint32_t, uint32_t,                                              \
           picked_bytes(a, b,                                                                                \
                        (c & 2u)   ? (c & 1u) ? (S3) : (S2)                                                  \
                          : (c & 1u) ? (S1)                                                                  \
                                   : (S0)))
PRMT_MODE(f4e, 0x3210u, 0x4321u, 0x5432u, 0x6543u)
PRMT_MODE(b4e, 0x5670u, 0x6701u, 0x7012u, 0x0123u)
PRMT_MODE(rc8, 0x0000u, 0x1111u, 0x2222u, 0x3333u)
PRMT_MODE(ecl, 0x3210u, 0x3211u, 0x3222u, 0x3333u)
PRMT_MODE(ecr, 0x0000u, 0x1110u, 0x2210u, 0x3210u)
PRMT_MODE(rc16, 0x1010u, 0x3232u, 0x1010u, 0x3232u)

bool bits_prmt(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, W(f4e) | W(b4e) | W(rc8) | W(ecl) | W(ecr) | W(rc16), &f) || f.type != PTX_B32)
        return false;
    AluHandler *handler = NULL;
    switch (f.words) {
    case 0: handler = prmt; break;
    case W(f4e): handler = prmt_f4e; break;
    case W(b4e): handler = prmt_b4e; break;
    case W(rc8): handler = prmt_rc8; break;
    case W(ecl): handler = prmt_ecl; break;
    case W(ecr): handler = prmt_ecr; break;
    case W(rc16): handler = prmt_rc16; break;
    default: break;
    }
    return CHOOSE(s, handler, PTX_B32, PTX_B32, PTX_B32, PTX_B32);
}
