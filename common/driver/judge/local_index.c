#include "driver/judge/local_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/ptx_lines.h"

enum { MOST_REGISTERS = 64, MOST_STEPS = 4 };

// What an address is made of, as far as it is in the loop from `first` to `end`.
typedef struct {
    const PtxLines *lines;
    int first, end;
    char known[MOST_REGISTERS][PTX_OPERAND_BYTES]; // registers that were looked at
    int count;
    bool is_carried; // one of them goes from round to round
} Slice;

static bool is_constant(const char *operand) {
    char *end;
    strtoll(operand, &end, 0);
    return operand[0] && !*end;
}

// The place of all arrays of the thread.
static bool is_depot(const char *operand) {
    return strncmp(operand, "%SP", 3) == 0 || strncmp(operand, "__local_depot", 13) == 0;
}

// The last instruction before the loop that writes the register; false: there is none.
static bool find_before(const Slice *slice, const char *reg, PtxInstruction *in) {
    return ptx_find_writer(slice->lines, 0, slice->first, reg, in) >= 0;
}

static bool is_arithmetic(const PtxInstruction *in) {
    static const char *const opcodes[] = {"mov", "add", "sub", "mul", "mad", "shl", "shr", "and",
                                          "or",  "xor", "cvt", "rem", "div", "min", "max"};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (opcode_is(in, opcodes[i])) return true;
    return false;
}

// Whether the register has what follows from constants and the place of an array alone, before the loop.
static bool begins_constant(const Slice *slice, const char *reg, int steps) {
    PtxInstruction in;
    if (is_depot(reg)) return true;
    if (steps == 0 || !find_before(slice, reg, &in) || !is_arithmetic(&in)) return false;
    for (int o = 1; o < in.operand_count; o++)
        if (!is_constant(in.operands[o]) && !begins_constant(slice, in.operands[o], steps - 1)) return false;
    return true;
}

// Whether the register follows from constants and the number of the round alone.
static bool follows_round(Slice *slice, const char *reg) {
    for (int k = 0; k < slice->count; k++)
        if (strcmp(slice->known[k], reg) == 0) return true;
    if (slice->count == MOST_REGISTERS) return false;
    snprintf(slice->known[slice->count++], PTX_OPERAND_BYTES, "%s", reg);
    bool is_written = false;
    for (int i = slice->first; i <= slice->end; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&slice->lines->lines[i], &in) || !ptx_writes(&in, reg)) continue;
        is_written = true;
        if (!is_arithmetic(&in)) return false;
        for (int o = 1; o < in.operand_count; o++)
            if (!is_constant(in.operands[o]) && !follows_round(slice, in.operands[o])) return false;
    }
    PtxInstruction before;
    if (is_written && !find_before(slice, reg, &before)) return true;
    slice->is_carried |= is_written;
    return begins_constant(slice, reg, MOST_STEPS);
}

// The register of the address "[%rd5+4]" of an access to local memory; false: it has none.
static bool local_base(const PtxInstruction *in, char *reg, size_t bytes) {
    const bool is_load = opcode_is(in, "ld"), is_store = opcode_is(in, "st");
    if (!(is_load || is_store) || !opcode_has(in, "local") || in->operand_count < 2) return false;
    const char *address = in->operands[is_load ? in->operand_count - 1 : 0];
    if (address[0] != '[') return false;
    snprintf(reg, bytes, "%.*s", (int)strcspn(address + 1, "+-]"), address + 1);
    return true;
}

// The only loop around `at`; false: there is none, or there are several.
static bool find_only_loop(const PtxLines *lines, int at, Slice *loop) {
    int found = 0;
    for (int i = at; i < lines->count && lines->lines[i].function == lines->lines[at].function; i++) {
        PtxInstruction in;
        if (!ptx_instruction(&lines->lines[i], &in) || !opcode_is(&in, "bra") || in.operand_count != 1)
            continue;
        const int first = ptx_loop_start(lines, i, &in);
        if (first < 0 || first > at) continue;
        found++;
        *loop = (Slice){.lines = lines, .first = first, .end = i};
    }
    return found == 1;
}

int local_index_loop(const Judge *judge, int task, int launch, int line) {
    const Image *image = judge->subjects->kernel;
    PtxLines lines;
    if (line <= 0 || !image->is_ptx || !ptx_lines_make(&image->text, "kernel.cu", &lines)) return 0;
    const int function = ptx_find_function(&lines, image->kernels[task][launch].symbol);
    static Slice loop;
    int found = 0;
    for (int i = 0; function >= 0 && i < lines.count; i++) {
        PtxInstruction in;
        char base[PTX_OPERAND_BYTES];
        if (lines.lines[i].function != function || lines.lines[i].source != line ||
            !ptx_instruction(&lines.lines[i], &in) || !local_base(&in, base, sizeof base))
            continue;
        if (!find_only_loop(&lines, i, &loop) || !follows_round(&loop, base) || !loop.is_carried) {
            found = 0;
            break;
        }
        found = lines.lines[loop.end].source;
    }
    ptx_lines_free(&lines);
    return found > 0 && found <= line ? found : 0;
}
