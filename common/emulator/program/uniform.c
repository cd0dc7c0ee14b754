// What comes from parameters, constants and the numbers of the block alone is the same in all lanes.
#include "emulator/program/uniform.h"

#include <stdlib.h>
#include <string.h>

static bool is_called(const PtxInstruction *in, const char *opcode) {
    return strcmp(in->opcode, opcode) == 0;
}

bool is_uniform(const PtxOperand *o, const bool *varies) {
    switch (o->kind) {
    case PTX_OPERAND_REGISTER: return !varies[o->reg->index];
    case PTX_OPERAND_SPECIAL: return strncmp(o->name, "%tid", 4) != 0 && strncmp(o->name, "%lane", 5) != 0;
    case PTX_OPERAND_ADDRESS: return o->element_count == 1 && is_uniform(&o->elements[0], varies);
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_VARIABLE: return true;
    default: return false;
    }
}

// Loads of parameters and arithmetic keep uniform what is so; everything else may differ from lane to lane.
static bool keeps_uniform(const PtxInstruction *in, const bool *varies, bool are_loads_uniform) {
    static const char *const plain[] = {"mov", "cvta", "cvt", "add", "sub", "mul",
                                        "mad", "shl",  "shr", "and", "or"};
    bool is_plain = is_called(in, "ld") && (are_loads_uniform || ptx_has(in, "param"));
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

bool *find_varying(const PtxFunction *f, bool are_loads_uniform) {
    bool *varies = calloc((size_t)f->register_count + 1, sizeof *varies);
    for (bool has_changed = varies != NULL; has_changed;) {
        has_changed = false;
        for (int i = 0; i < f->instruction_count; i++) {
            const PtxInstruction *in = &f->instructions[i];
            const bool has_result = in->operand_count > 0 && !is_called(in, "st") && !is_called(in, "red");
            if (has_result && !keeps_uniform(in, varies, are_loads_uniform))
                mark(&in->operands[0], varies, &has_changed);
        }
    }
    return varies;
}
