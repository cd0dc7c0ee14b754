// What a thread keeps that skips a load: the variable's earlier value, or 0.
#include <stdio.h>
#include <string.h>

#include "driver/judge/repair/kernel.h"

// Sets a register to 0. False: its name is of none that holds a number.
static bool write_zeroing(const char *reg, char *out, size_t room) {
    const char *type = strncmp(reg, "%fd", 3) == 0   ? "f64"
                       : strncmp(reg, "%f", 2) == 0  ? "f32"
                       : strncmp(reg, "%rd", 3) == 0 ? "u64"
                       : strncmp(reg, "%r", 2) == 0  ? "u32"
                                                     : NULL;
    if (!type) return false;
    const char *zero = *type == 'u' ? "0" : type[1] == '6' ? "0d0000000000000000" : "0f00000000";
    snprintf(out, room, "\tmov.%s %s, %s;", type, reg, zero);
    return true;
}

static bool is_written_before(const Kernel *kernel, int at, const char *reg) {
    PtxInstruction in;
    return ptx_find_writer(kernel->lines, kernel->first, at, reg, &in) >= 0;
}

// Whether an instruction has the register, alone or in an address or a list.
static bool has_register(const PtxInstruction *in, const char *reg) {
    const size_t length = strlen(reg);
    for (int o = 0; o < in->operand_count; o++)
        for (const char *at = strstr(in->operands[o], reg); at; at = strstr(at + 1, reg))
            if (!strchr("0123456789", at[length]) || !at[length]) return true;
    return false;
}

// The branch that leads past a load and nothing else does; -1: there is none, or the register is needed
// between them.
static int branch_past(const Kernel *kernel, int load, const char *reg) {
    for (int i = load - 1; i >= kernel->first; i--) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if (line->is_label) return -1;
        if (!ptx_instruction(line, &in)) continue;
        if (opcode_is(&in, "bra")) {
            const size_t length = strlen(in.operands[0]);
            for (int k = load + 1; in.predicate[0] && k < kernel->end; k++) {
                const PtxLine *label = &kernel->lines->lines[k];
                if (label->is_label && strncmp(label->text, in.operands[0], length) == 0 &&
                    label->text[length] == ':')
                    return i;
            }
            return -1;
        }
        if (has_register(&in, reg)) return -1;
    }
    return -1;
}

void propose_zero_where_skipped(const Kernel *kernel) {
    int proposed = 0;
    for (int i = kernel->first; i < kernel->end && proposed < MOST; i++) {
        const PtxLine *line = &kernel->lines->lines[i];
        PtxInstruction in;
        if (!line->source || !ptx_instruction(line, &in) || !is_access(&in, "ld") || in.operand_count != 2)
            continue;
        const char *reg = in.operands[0];
        char text[PTX_OPERAND_BYTES + 64];
        if (!write_zeroing(reg, text, sizeof text) || !is_written_before(kernel, i, reg)) continue;
        const int at = in.predicate[0] ? i : branch_past(kernel, i, reg);
        if (at < 0) continue;
        Change *change = changes_add(kernel->changes, CHANGE_SKIPPED, line->source);
        if (change)
            snprintf(change->words, sizeof change->words,
                     "0 in place of the earlier value where line %d is skipped", line->source);
        change_insert(kernel->changes, change, at, "%s", text);
        proposed++;
    }
}
