// Moves (ISA, mov): mov of a register, of predicates, and into and out of vectors.
//
// The addresses and special registers that mov can also read are lowering's business: to these handlers
// an address is a constant.
#include "emulator/alu/alu.h"

ALU_1(mov_16, uint16_t, uint16_t, a)
ALU_1(mov_32, uint32_t, uint32_t, a)
ALU_1(mov_64, uint64_t, uint64_t, a)
ALU_HANDLER(mov_pred) { write_predicate(registers, in, 0, read_predicate(registers, in, 0), mask); }

// d = {a, b} and d = {a, b, c, d}: the first element is the lowest.
ALU_2(pack_32_16, uint32_t, uint16_t, uint16_t, a | (uint32_t)b << 16)
ALU_2(pack_64_32, uint64_t, uint32_t, uint32_t, a | (uint64_t)b << 32)
ALU_2(pack_16_8, uint16_t, uint16_t, uint16_t, (a & 0xffu) | (uint32_t)b << 8)
#define FOUR(T)                                                                                              \
    const T *pa = source(registers, in, 0), *pb = source(registers, in, 1), *pc = source(registers, in, 2),  \
            *pd = source(registers, in, 3)
ALU_HANDLER(pack_64_16) {
    FOUR(uint16_t);
    ALU_LANES(uint64_t, (void)0,
              pa[lane] | (uint64_t)pb[lane] << 16 | (uint64_t)pc[lane] << 32 | (uint64_t)pd[lane] << 48)
}
ALU_HANDLER(pack_32_8) {
    FOUR(uint16_t);
    ALU_LANES(uint32_t, (void)0,
              (pa[lane] & 0xffu) | (pb[lane] & 0xffu) << 8 | (pc[lane] & 0xffu) << 16 |
                  (uint32_t)pd[lane] << 24)
}

// {d0, d1 ...} = a; an element written `_` has no destination.
#define UNPACK(NAME, D, A, COUNT, BITS, PART)                                                                \
    ALU_HANDLER(NAME) {                                                                                      \
        const A *pa = source(registers, in, 0);                                                              \
        for (int k = 0; k < (COUNT); k++) {                                                                  \
            if (in->dst[k] < 0) continue;                                                                    \
            D *d = destination(registers, in, k);                                                            \
            EACH_LANE {                                                                                      \
                const D part = (D)(pa[lane] >> ((BITS)*k) & (PART));                                         \
                d[lane] = (D)(mask >> lane & 1u ? part : d[lane]);                                           \
            }                                                                                                \
        }                                                                                                    \
    }
UNPACK(unpack_32_16, uint16_t, uint32_t, 2, 16, 0xffffu)
UNPACK(unpack_64_32, uint32_t, uint64_t, 2, 32, 0xffffffffu)
UNPACK(unpack_64_16, uint16_t, uint64_t, 4, 16, 0xffffu)
UNPACK(unpack_16_8, uint16_t, uint16_t, 2, 8, 0xffu)
UNPACK(unpack_32_8, uint16_t, uint32_t, 4, 8, 0xffu)

// The element type and the handlers of a vector of `count` elements in `bytes` bytes.
typedef struct {
    unsigned bytes;
    int count;
    PtxType element;
    AluHandler *pack, *unpack;
} VectorMove;
static const VectorMove vector_moves[] = {
    {2, 2, PTX_B8, pack_16_8, unpack_16_8},    {4, 2, PTX_B16, pack_32_16, unpack_32_16},
    {4, 4, PTX_B8, pack_32_8, unpack_32_8},    {8, 2, PTX_B32, pack_64_32, unpack_64_32},
    {8, 4, PTX_B16, pack_64_16, unpack_64_16},
};

static const VectorMove *vector_move(unsigned bytes, int count) {
    for (unsigned i = 0; i < sizeof vector_moves / sizeof *vector_moves; i++)
        if (vector_moves[i].bytes == bytes && vector_moves[i].count == count) return &vector_moves[i];
    return NULL;
}

static AluHandler *plain_move(PtxType type) {
    if (type == PTX_PRED) return mov_pred;
    switch (ptx_type_bytes(type)) {
    case 2: return mov_16;
    case 4: return mov_32;
    case 8: return mov_64;
    default: return NULL;
    }
}

bool move_mov(const PtxInstruction *in, Selection *s) {
    AluForm f;
    if (!alu_form(in, 0, &f) || in->operand_count != 2) return false;
    const PtxOperand *to = &in->operands[0], *from = &in->operands[1];
    if (to->kind == PTX_OPERAND_VECTOR && from->kind == PTX_OPERAND_VECTOR) return false;
    if (from->kind == PTX_OPERAND_VECTOR) {
        const VectorMove *move = vector_move(ptx_type_bytes(f.type), from->element_count);
        if (!move || !CHOOSE(s, move->pack, f.type, move->element)) return false;
        for (int k = 1; k < move->count; k++) s->src[k] = move->element;
        return true;
    }
    if (to->kind == PTX_OPERAND_VECTOR) {
        const VectorMove *move = vector_move(ptx_type_bytes(f.type), to->element_count);
        if (!move || !CHOOSE(s, move->unpack, PTX_NO_TYPE, f.type)) return false;
        for (int k = 0; k < move->count; k++) s->dst[k] = move->element;
        return true;
    }
    return CHOOSE(s, plain_move(f.type), f.type, f.type);
}

// createpolicy (ISA): there are no caches to have a policy, and any value will do.
ALU_HANDLER(policy) { ALU_LANES(uint64_t, (void)0, 0) }

bool move_createpolicy(const PtxInstruction *in, Selection *s) {
    if (in->operand_count < 1 || in->modifier_count < 1) return false;
    if (!CHOOSE(s, policy, PTX_B64, PTX_NO_TYPE)) return false;
    if (!strcmp(in->modifiers[0], "fractional")) {
        if (in->operand_count > 1) s->src[0] = PTX_F32;
        return true;
    }
    if (!strcmp(in->modifiers[0], "cvt")) return s->src[0] = PTX_B64, true;
    return false; // .range has an address operand, which lowering does not take here
}
