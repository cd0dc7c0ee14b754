// If ptxas sees that an address is the same for all lanes, it combines the values of the warp first (REDUX,
// or SHFL where the old value is asked for), and one lane makes the access: atomics of 32-bit integers that
// add, and those without a result that compare or combine bits. That is what it did to the patterns of
// tests/hardware_truth/patterns_atomic.cu.
#include "emulator/program/gathered.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/program/uniform.h"

static bool is_called(const PtxInstruction *in, const char *opcode) {
    return strcmp(in->opcode, opcode) == 0;
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
    bool *varies = find_varying(f, false);
    if (!varies) return false;
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
