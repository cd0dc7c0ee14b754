// If ptxas sees that an address is the same for all lanes, because it comes from parameters, constants and
// the numbers of the block alone, it combines the values of the warp first (REDUX, or SHFL where the old
// value is asked for), and one lane makes the access: atomics of 32-bit integers that add, and those without
// a result that compare or combine bits. That is what it did to the patterns of
// tests/hardware_truth/patterns_atomic.cu.
#include "emulator/program/gathered.h"

#include <stdlib.h>
#include <string.h>

static bool is_called(const PtxInstruction *in, const char *opcode) {
    return strcmp(in->opcode, opcode) == 0;
}

// Whether an operand has one value in all lanes.
static bool is_uniform(const PtxOperand *o, const bool *varies) {
    switch (o->kind) {
    case PTX_OPERAND_REGISTER: return !varies[o->reg->index];
    case PTX_OPERAND_SPECIAL: return strncmp(o->name, "%tid", 4) != 0 && strncmp(o->name, "%lane", 5) != 0;
    case PTX_OPERAND_ADDRESS: return o->element_count == 1 && is_uniform(&o->elements[0], varies);
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_VARIABLE: return true;
    default: return false;
    }
}

// Loads of parameters and arithmetic keep uniform what is; everything else may differ from lane to lane.
static bool keeps_uniform(const PtxInstruction *in, const bool *varies) {
    static const char *const plain[] = {"mov", "cvta", "cvt", "add", "sub", "mul",
                                        "mad", "shl",  "shr", "and", "or"};
    bool is_plain = is_called(in, "ld") && ptx_has(in, "param");
    for (size_t k = 0; k < sizeof plain / sizeof plain[0]; k++)
        is_plain = is_plain || is_called(in, plain[k]);
    for (int k = 1; k < in->operand_count; k++) is_plain = is_plain && is_uniform(&in->operands[k], varies);
    return is_plain && !in->guard;
}

static void mark(const PtxOperand *to, bool *varies, bool *has_changed) {
    if (to->kind == PTX_OPERAND_REGISTER && !varies[to->reg->index])
        varies[to->reg->index] = *has_changed = true;
    for (int k = 0; k < to->element_count && to->kind != PTX_OPERAND_ADDRESS; k++)
        mark(&to->elements[k], varies, has_changed);
}

static bool is_gatherable(const PtxInstruction *in, const bool *varies) {
    static const char *const operations[] = {"add", "min", "max", "and", "or", "xor"};
    const PtxType type = ptx_type_from_end(in, 0);
    const bool is_integer = type == PTX_U32 || type == PTX_S32 || type == PTX_B32;
    const bool has_result = is_called(in, "atom");
    if ((!has_result && !is_called(in, "red")) || !is_integer || in->operand_count < 2) return false;
    bool is_known = false;
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++)
        is_known = is_known || ptx_has(in, operations[k]);
    return is_known && is_uniform(&in->operands[has_result ? 1 : 0], varies);
}

bool find_gathered_atomics(Function *function) {
    const PtxFunction *f = function->ptx;
    bool *varies = calloc((size_t)f->register_count + 1, sizeof *varies);
    if (!varies) return false;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (int i = 0; i < f->instruction_count; i++) {
            const PtxInstruction *in = &f->instructions[i];
            const bool has_result = in->operand_count > 0 && !is_called(in, "st") && !is_called(in, "red");
            if (has_result && !keeps_uniform(in, varies)) mark(&in->operands[0], varies, &has_changed);
        }
    }
    for (int i = 0; i < function->count; i++) {
        Instruction *in = &function->code[i];
        if (in->kind != KIND_ATOMIC) continue;
        for (int k = 0; k < f->instruction_count; k++)
            if (f->instructions[k].line == in->ptx_line)
                in->is_gathered = is_gatherable(&f->instructions[k], varies);
    }
    free(varies);
    return true;
}
