// Extended-precision arithmetic (ISA, section of that name): sums and products that take and leave a carry in
// CC.CF.
#include "emulator/alu/alu.h"

typedef unsigned __int128 Wide;
typedef __int128 SignedWide;

static uint32_t *carry_register(unsigned char *registers) { return (uint32_t *)(registers + CARRY_OFFSET); }

static void leave_carry(unsigned char *registers, uint32_t carry, uint32_t mask) {
    uint32_t *cc = carry_register(registers);
    *cc = (*cc & ~mask) | (carry & mask);
}

// x + y + carry and x - y - borrow. The carry out of a subtraction is its borrow (ISA, sub.cc).
#define SUM(x, y, in) ((x) + (y) + (in))
#define SUM_CARRY(x, y, in, r) ((in) ? (r) <= (x) : (r) < (x))
#define DIFFERENCE(x, y, in) ((x) - (y) - (in))
#define DIFFERENCE_CARRY(x, y, in, r) ((in) ? (x) <= (y) : (x) < (y))

// FIRST is the left operand over a and b, SECOND the right one over b and c.
#define CARRY_LOOP(T, OP, TAKES, LEAVES, LOADS, FIRST, SECOND)                                               \
    T *d = destination(registers, in, 0);                                                                    \
    const uint32_t carry = (TAKES) ? *carry_register(registers) : 0;                                         \
    uint32_t carry_out = 0;                                                                                  \
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {                                                      \
        LOADS;                                                                                               \
        const T x = (FIRST), y = (SECOND), one = carry >> lane & 1u;                                         \
        const T result = OP(x, y, one);                                                                      \
        carry_out |= (uint32_t)(OP##_CARRY(x, y, one, result)) << lane;                                      \
        d[lane] = mask >> lane & 1u ? result : d[lane];                                                      \
    }                                                                                                        \
    if (LEAVES) leave_carry(registers, carry_out, mask);

#define CARRY_2(NAME, T, OP, TAKES, LEAVES)                                                                  \
    ALU_HANDLER(NAME) {                                                                                      \
        const T *pa = source(registers, in, 0), *pb = source(registers, in, 1);                              \
        CARRY_LOOP(T, OP, TAKES, LEAVES, const T a = pa[lane]; const T b = pb[lane], a, b)                   \
    }
#define CARRY_3(NAME, T, TAKES, LEAVES, PRODUCT)                                                             \
    ALU_HANDLER(NAME) {                                                                                      \
        const T *pa = source(registers, in, 0), *pb = source(registers, in, 1),                              \
                *pc = source(registers, in, 2);                                                              \
        CARRY_LOOP(T, SUM, TAKES, LEAVES, const T a = pa[lane]; const T b = pb[lane];                        \
                   const T c = pc[lane], PRODUCT, c)                                                         \
    }

// The three forms that touch the carry: leave it (add.cc), take it (addc), both (addc.cc).
typedef enum { LEAVE, TAKE, TAKE_AND_LEAVE, CARRY_USES } CarryUse;

#define FORMS_2(OP, MACRO)                                                                                   \
    CARRY_2(OP##_leave_32, uint32_t, MACRO, false, true)                                                     \
    CARRY_2(OP##_take_32, uint32_t, MACRO, true, false)                                                      \
    CARRY_2(OP##_both_32, uint32_t, MACRO, true, true)                                                       \
    CARRY_2(OP##_leave_64, uint64_t, MACRO, false, true)                                                     \
    CARRY_2(OP##_take_64, uint64_t, MACRO, true, false)                                                      \
    CARRY_2(OP##_both_64, uint64_t, MACRO, true, true)
FORMS_2(add, SUM)
FORMS_2(sub, DIFFERENCE)

#define HIGH(T, P, BITS) (T)(((P)a * (P)b) >> (BITS))
#define FORMS_3(OP, T, PRODUCT)                                                                              \
    CARRY_3(OP##_leave, T, false, true, PRODUCT)                                                             \
    CARRY_3(OP##_take, T, true, false, PRODUCT)                                                              \
    CARRY_3(OP##_both, T, true, true, PRODUCT)
FORMS_3(mad_lo_32, uint32_t, a *b)
FORMS_3(mad_lo_64, uint64_t, a *b)
FORMS_3(mad_hi_u32, uint32_t, HIGH(uint32_t, uint64_t, 32))
FORMS_3(mad_hi_u64, uint64_t, HIGH(uint64_t, Wide, 64))
FORMS_3(mad_hi_s32, uint32_t, (uint32_t)(((int64_t)(int32_t)a * (int64_t)(int32_t)b) >> 32))
FORMS_3(mad_hi_s64, uint64_t, (uint64_t)(((SignedWide)(int64_t)a * (SignedWide)(int64_t)b) >> 64))

typedef AluHandler *const CarryTable[CARRY_USES][ALU_TYPES];

#define ROW_2(OP, USE)                                                                                       \
    {                                                                                                        \
        [PTX_U32] = OP##_##USE##_32, [PTX_S32] = OP##_##USE##_32, [PTX_U64] = OP##_##USE##_64,               \
        [PTX_S64] = OP##_##USE##_64,                                                                         \
    }
#define ROW_LOW(USE)                                                                                         \
    {                                                                                                        \
        [PTX_U32] = mad_lo_32_##USE, [PTX_S32] = mad_lo_32_##USE, [PTX_U64] = mad_lo_64_##USE,               \
        [PTX_S64] = mad_lo_64_##USE,                                                                         \
    }
#define ROW_HIGH(USE)                                                                                        \
    {                                                                                                        \
        [PTX_U32] = mad_hi_u32_##USE, [PTX_S32] = mad_hi_s32_##USE, [PTX_U64] = mad_hi_u64_##USE,            \
        [PTX_S64] = mad_hi_s64_##USE,                                                                        \
    }
static CarryTable add_table = {ROW_2(add, leave), ROW_2(add, take), ROW_2(add, both)};
static CarryTable sub_table = {ROW_2(sub, leave), ROW_2(sub, take), ROW_2(sub, both)};
static CarryTable low_table = {ROW_LOW(leave), ROW_LOW(take), ROW_LOW(both)};
static CarryTable high_table = {ROW_HIGH(leave), ROW_HIGH(take), ROW_HIGH(both)};

// `takes` is of the opcode (addc), leaving a carry is the word .cc; an opcode that does neither is not ours.
static bool carry_use(const AluForm *f, bool takes, CarryUse *use) {
    const bool leaves = f->words & W(cc);
    *use = takes && leaves ? TAKE_AND_LEAVE : takes ? TAKE : LEAVE;
    return takes || leaves;
}

static bool select_sum(const PtxInstruction *in, Selection *s, CarryTable table, bool takes) {
    AluForm f;
    CarryUse use;
    if (!alu_form(in, W(cc), &f) || !carry_use(&f, takes, &use)) return false;
    return s->has_carry = CHOOSE(s, table[use][f.type], f.type, f.type, f.type);
}

static bool select_mad(const PtxInstruction *in, Selection *s, bool takes) {
    AluForm f;
    CarryUse use;
    if (!alu_form(in, W(cc) | W(lo) | W(hi), &f) || !carry_use(&f, takes, &use)) return false;
    switch (f.words & (W(lo) | W(hi))) {
    case W(lo): return s->has_carry = CHOOSE(s, low_table[use][f.type], f.type, f.type, f.type, f.type);
    case W(hi): return s->has_carry = CHOOSE(s, high_table[use][f.type], f.type, f.type, f.type, f.type);
    default: return false;
    }
}

bool carry_add(const PtxInstruction *in, Selection *s) { return select_sum(in, s, add_table, false); }
bool carry_addc(const PtxInstruction *in, Selection *s) { return select_sum(in, s, add_table, true); }
bool carry_sub(const PtxInstruction *in, Selection *s) { return select_sum(in, s, sub_table, false); }
bool carry_subc(const PtxInstruction *in, Selection *s) { return select_sum(in, s, sub_table, true); }
bool carry_mad(const PtxInstruction *in, Selection *s) { return select_mad(in, s, false); }
bool carry_madc(const PtxInstruction *in, Selection *s) { return select_mad(in, s, true); }
