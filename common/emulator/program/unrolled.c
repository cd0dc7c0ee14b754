// ptxas unrolls a loop of one basic block fourfold if its counter goes by a constant to a bound that stays as
// it is: four rounds at a time while there are four, then two, then one. What is left over is under
// predicates if it is cheap, and then every warp issues it. An unsigned counter has one more round before all
// these, for lanes that start past the end. (A loop until the counter is equal to its bound ends with the
// loop itself in place of the last round.) The rules were found with the machine code that ptxas 13 makes of
// small kernels for sm_90, and with an H200's counts of one.
#include "emulator/program/unrolled.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/program/machine_cost.h"
#include "emulator/program/uniform.h"

enum {
    LONGEST = 100,        // instructions of a loop
    MOST_DEEP = 8,        // instructions from the counter to an address
    MOST_COST_OF_ONE = 8, // machine instructions of rounds under a predicate, where the counter may vary
    MOST_COST_OF_TWO = 8, // with the counters, and a note that a round was done
    MOST_COST_OF_PEEL = 7,
    MOST_UNIFORM_ONE = 6, // where all lanes leave together; two rounds keep their branch there
    MOST_UNIFORM_PEEL = 5,
    MOST_ARITHMETIC = 16, // beside accesses to shared memory, of which each allows for more
    MORE_ARITHMETIC = 3,
    MOST_WITH_GLOBAL = 46, // where it is global memory, a load being worth two
};

typedef struct {
    const Function *function;
    const bool *varies;
    int head, back;
    const PtxInstruction *compare;
} Body;

static bool is_called(const PtxInstruction *in, const char *opcode) {
    return strcmp(in->opcode, opcode) == 0;
}

bool is_nounroll(const Function *f, int32_t head) {
    const PtxInstruction *first = ptx_at_line(f->ptx, f->code[head].ptx_line);
    for (int k = 0; first && k < f->ptx->label_count; k++) {
        const PtxLabel *label = &f->ptx->labels[k];
        if (label->is_nounroll && label->instruction == first - f->ptx->instructions) return true;
    }
    return false;
}

static const PtxInstruction *ptx_of(const Body *b, int at) {
    return ptx_at_line(b->function->ptx, b->function->code[at].ptx_line);
}

// ---- Registers --------------------------------------------------------------------------------------------

static bool names(const PtxOperand *o, const PtxRegister *reg) {
    if (o->kind == PTX_OPERAND_REGISTER) return o->reg == reg;
    for (int k = 0; k < o->element_count; k++)
        if (names(&o->elements[k], reg)) return true;
    return false;
}

static bool has_result(const PtxInstruction *in) {
    return in->operand_count > 0 && in->operands[0].kind != PTX_OPERAND_ADDRESS && !is_called(in, "bra");
}

// The instruction of the loop that writes a register: NULL if none does, or several do.
static const PtxInstruction *writer_of(const Body *b, const PtxRegister *reg, int *count) {
    const PtxInstruction *writer = NULL;
    *count = 0;
    for (int i = b->head; i < b->back; i++) {
        const PtxInstruction *in = ptx_of(b, i);
        if (!has_result(in) || !names(&in->operands[0], reg) || in == writer) continue;
        writer = in;
        ++*count;
    }
    return *count == 1 ? writer : NULL;
}

static bool is_invariant(const Body *b, const PtxOperand *o) {
    int count = 0;
    if (o->kind == PTX_OPERAND_REGISTER) writer_of(b, o->reg, &count);
    for (int k = 0; k < o->element_count && !count; k++) count = !is_invariant(b, &o->elements[k]);
    return !count;
}

// Whether an instruction takes a counter one step on: it adds what stays as it is to its own result.
static bool is_step(const Body *b, const PtxInstruction *in) {
    return is_called(in, "add") && !in->guard && in->operand_count == 3 &&
           in->operands[0].kind == PTX_OPERAND_REGISTER && in->operands[1].kind == PTX_OPERAND_REGISTER &&
           in->operands[0].reg == in->operands[1].reg && is_invariant(b, &in->operands[2]) &&
           ptx_type_from_end(in, 0) != PTX_F32 && ptx_type_from_end(in, 0) != PTX_F64;
}

static bool is_counter(const Body *b, const PtxOperand *o) {
    int count;
    const PtxInstruction *writer = o->kind == PTX_OPERAND_REGISTER ? writer_of(b, o->reg, &count) : NULL;
    return writer && is_step(b, writer);
}

// Whether a value goes by a constant from round to round, so that an access of another round has the same
// address with another offset. A counter may wrap around, and what is made wider or narrower of it may not.
static bool is_regular(const Body *b, const PtxOperand *o, int depth) {
    static const char *const sums[] = {"add", "sub", "cvta", "mov"}, *const products[] = {"mul", "shl",
                                                                                          "mad"};
    int count;
    if (is_invariant(b, o) || is_counter(b, o)) return true;
    const PtxInstruction *in = o->kind == PTX_OPERAND_REGISTER ? writer_of(b, o->reg, &count) : NULL;
    if (!in || in->guard || depth == MOST_DEEP) return false;
    bool is_known = false;
    for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++) is_known |= is_called(in, sums[k]);
    for (size_t k = 0; k < sizeof products / sizeof products[0]; k++)
        is_known |= is_called(in, products[k]) && !ptx_has(in, "wide") && !ptx_has(in, "hi") &&
                    in->operands[2].kind == PTX_OPERAND_INTEGER;
    for (int k = 1; k < in->operand_count && is_known; k++)
        is_known = is_regular(b, &in->operands[k], depth + 1);
    return is_known;
}

// Whether nothing but addresses needs the result.
static bool is_for_addresses(const Body *b, const PtxRegister *reg, int depth) {
    if (depth == MOST_DEEP) return false;
    for (int i = b->head; i < b->back; i++) {
        const PtxInstruction *in = ptx_of(b, i);
        if (in->guard == reg) return false;
        for (int k = has_result(in); k < in->operand_count; k++) {
            const PtxOperand *o = &in->operands[k];
            if (o->kind == PTX_OPERAND_ADDRESS || !names(o, reg)) continue;
            if (!has_result(in) || in->operands[0].kind != PTX_OPERAND_REGISTER ||
                in->operands[0].reg == reg || !is_for_addresses(b, in->operands[0].reg, depth + 1))
                return false;
        }
    }
    return true;
}

static bool is_address(const Body *b, const PtxInstruction *in) {
    return has_result(in) && in->operands[0].kind == PTX_OPERAND_REGISTER && !is_called(in, "ld") &&
           is_regular(b, &in->operands[0], 0) && is_for_addresses(b, in->operands[0].reg, 0);
}

static bool is_hoisted(const Body *b, const PtxInstruction *in) {
    bool is_same = has_result(in) && !is_called(in, "ld") && !in->guard;
    for (int k = 1; k < in->operand_count; k++) is_same = is_same && is_invariant(b, &in->operands[k]);
    return is_same;
}

// ---- The loop ---------------------------------------------------------------------------------------------

static bool is_simple(const Instruction *in) {
    switch ((InstructionKind)in->kind) {
    case KIND_ALU: return !in->slow_path;
    case KIND_LOAD:
    case KIND_STORE:
    case KIND_CVTA:
    case KIND_SPECIAL:
    case KIND_NOT_PREDICATE: return true;
    default: return false;
    }
}

// Whether the loop is one basic block.
static bool is_straight(const Body *b) {
    const Function *f = b->function;
    if (b->back - b->head > LONGEST) return false;
    for (int i = b->head; i < b->back; i++)
        if (!is_simple(&f->code[i]) || !ptx_of(b, i)) return false;
    for (int i = 0; i < f->count; i++)
        if (f->code[i].kind == KIND_BRANCH_TABLE ||
            (f->code[i].kind == KIND_BRANCH && f->code[i].target > b->head && f->code[i].target <= b->back))
            return false;
    return true;
}

// Whether the counter starts as a constant, and the bound is one: ptxas knows the number of rounds.
static bool is_of_known_length(const Body *b, const PtxRegister *counter, const PtxOperand *bound) {
    const PtxFunction *f = b->function->ptx;
    bool is_known = bound->kind == PTX_OPERAND_INTEGER;
    for (int i = 0; i < f->instruction_count && is_known; i++) {
        const PtxInstruction *in = &f->instructions[i];
        if (has_result(in) && names(&in->operands[0], counter) && !is_step(b, in))
            is_known = is_called(in, "mov") && in->operands[1].kind == PTX_OPERAND_INTEGER;
    }
    return is_known;
}

// Whether the loop's end is of the kind that ptxas unrolls: b->compare, which decides it.
static bool has_bound(Body *b) {
    static const char *const up[] = {"lt", "le", "lo", "ls"}, *const down[] = {"gt", "ge", "hi", "hs"};
    const Instruction *back = &b->function->code[b->back];
    const PtxInstruction *branch = ptx_of(b, b->back);
    int count;
    b->compare = branch && branch->guard && !back->guard_negated ? writer_of(b, branch->guard, &count) : NULL;
    const PtxInstruction *in = b->compare;
    if (!in || !is_called(in, "setp") || in->guard || in->operand_count != 3 ||
        !is_counter(b, &in->operands[1]) || !is_invariant(b, &in->operands[2]))
        return false;
    const PtxRegister *counter = in->operands[1].reg;
    const PtxInstruction *step = writer_of(b, counter, &count);
    if (step > in || step->operands[2].kind != PTX_OPERAND_INTEGER) return false;
    const bool is_up = (int64_t)step->operands[2].integer > 0;
    bool is_known = ptx_has(in, "ne");
    for (size_t k = 0; k < sizeof up / sizeof up[0]; k++)
        is_known = is_known || ptx_has(in, is_up ? up[k] : down[k]);
    return is_known && !is_of_known_length(b, counter, &in->operands[2]);
}

static bool is_unsigned(const PtxInstruction *compare) {
    static const char *const words[] = {"lo", "ls", "hi", "hs", "u32", "u64"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (ptx_has(compare, words[k])) return true;
    return false;
}

// ---- What it costs ----------------------------------------------------------------------------------------

typedef struct {
    int steps, addresses, rest; // machine instructions
    int arithmetic;             // of the rest
    int shared, global;         // accesses
    bool is_never;              // under a predicate
} Cost;

static bool is_shared(const Instruction *in) { return in->space == PTX_SPACE_SHARED; }

static Cost cost_of(const Body *b) {
    Cost cost = {0};
    for (int i = b->head; i < b->back; i++) {
        const Instruction *in = &b->function->code[i];
        const PtxInstruction *ptx = ptx_of(b, i);
        const bool is_access = in->kind == KIND_LOAD || in->kind == KIND_STORE;
        cost.is_never |= in->machine_cost == NEVER_PREDICATED || (in->kind == KIND_LOAD && !is_shared(in));
        cost.shared += is_access && is_shared(in);
        cost.global += is_access && !is_shared(in);
        if (ptx == b->compare || is_hoisted(b, ptx)) continue;
        if (is_step(b, ptx))
            cost.steps += in->machine_cost;
        else if (is_address(b, ptx))
            cost.addresses += in->machine_cost;
        else {
            cost.rest += in->machine_cost;
            cost.arithmetic += is_access ? 0 : in->machine_cost;
        }
    }
    return cost;
}

// A store keeps loads of the same memory behind it, unless both go by pointers that are counters.
static bool keeps_loads(const Body *b) {
    bool has_load[2] = {false}, has_store[2] = {false}, is_by_pointers = true;
    for (int i = b->head; i < b->back; i++) {
        const Instruction *in = &b->function->code[i];
        if (in->kind != KIND_LOAD && in->kind != KIND_STORE) continue;
        const PtxInstruction *ptx = ptx_of(b, i);
        const PtxOperand *address = &ptx->operands[in->kind == KIND_LOAD];
        (in->kind == KIND_LOAD ? has_load : has_store)[is_shared(in)] = true;
        is_by_pointers = is_by_pointers && address->element_count && is_counter(b, &address->elements[0]);
    }
    return ((has_load[0] && has_store[0]) || (has_load[1] && has_store[1])) && !is_by_pointers;
}

static int kind_of(Body *b) {
    if (!is_straight(b) || !has_bound(b) || is_nounroll(b->function, b->head) || keeps_loads(b)) return 0;
    const Cost cost = cost_of(b);
    const bool is_small = cost.global ? cost.arithmetic + 2 * (cost.global + cost.shared) <= MOST_WITH_GLOBAL
                                      : cost.arithmetic <= MOST_ARITHMETIC + MORE_ARITHMETIC * cost.shared;
    if (!is_small) return 0;
    if (cost.is_never) return UNROLLED;
    const bool is_even =
        !b->varies[b->compare->operands[1].reg->index] && is_uniform(&b->compare->operands[2], b->varies);
    const bool is_until_equal = ptx_has(b->compare, "ne");
    const int one = cost.rest + cost.addresses, peel = one + cost.steps;
    const int two = 2 * cost.rest + cost.addresses + cost.steps + 1;
    int kind = UNROLLED;
    if (!is_until_equal && one <= (is_even ? MOST_UNIFORM_ONE : MOST_COST_OF_ONE)) kind |= ONE_PREDICATED;
    if (!is_even && two <= MOST_COST_OF_TWO) kind |= TWO_PREDICATED;
    if (!is_until_equal && is_unsigned(b->compare) &&
        peel <= (is_even ? MOST_UNIFORM_PEEL : MOST_COST_OF_PEEL))
        kind |= PEEL_PREDICATED;
    return kind;
}

bool find_unrolled_loops(Function *f) {
    bool *varies = find_varying(f->ptx, true);
    if (!varies) return false;
    for (int i = 0; i < f->count; i++) {
        Instruction *back = &f->code[i];
        if (back->kind != KIND_BRANCH || back->guard < 0 || back->target >= i) continue;
        Body b = {.function = f, .varies = varies, .head = back->target, .back = i};
        back->unrolled = (uint8_t)kind_of(&b);
        for (int k = b.head; back->unrolled && k < i; k++)
            if (is_shared(&f->code[k])) f->code[k].to_round_end = (uint8_t)(i - k);
    }
    free(varies);
    return true;
}
