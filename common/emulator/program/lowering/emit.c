// What every part of lowering uses: errors, and appending an instruction to the function being lowered.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emulator/program/lowering/lowering.h"

// ---- Errors -----------------------------------------------------------------------------------------------

bool lower_fail(Lowering *l, EmulatorStatus status, const PtxInstruction *in, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(l->refused, sizeof l->refused, format, arguments);
    va_end(arguments);
    ptx_error_at(l->error, status, l->module, l->program->name, in->line, in->column, "%s", l->refused);
    Instruction here = {.location = in->location, .ptx_line = in->line};
    SourcePlace place = place_of(l->program, &here);
    if (place.line) {
        memcpy(l->error->file, place.file, sizeof l->error->file);
        l->error->source_line = place.line;
    }
    return false;
}

bool lower_no_memory(Lowering *l) {
    l->error->status = EMULATOR_NO_MEMORY;
    snprintf(l->error->message, sizeof l->error->message, "out of memory while decoding %s",
             l->program->name);
    return false;
}

bool unsupported_form(Lowering *l, const PtxInstruction *in, const char *word) {
    return lower_fail(l, EMULATOR_UNSUPPORTED, in, "this form of %s is not supported: .%s", in->opcode, word);
}

bool wrong_operands(Lowering *l, const PtxInstruction *in, const char *wanted) {
    return lower_fail(l, EMULATOR_BAD_PTX, in, "%s wants %s", in->opcode, wanted);
}

bool operands_fit(Lowering *l, const PtxInstruction *in, int given) {
    if (given >= l->opcode->least && given <= l->opcode->most) return true;
    return wrong_operands(l, in, l->opcode->wanted);
}

// ---- Instructions -----------------------------------------------------------------------------------------

Instruction blank(InstructionKind kind) {
    return (Instruction){.kind = (uint8_t)kind,
                         .guard = -1,
                         .reconverge = -1,
                         .meeting = -1,
                         .target = -1,
                         .dst = {-1, -1, -1, -1}};
}

MoreOperands *more_operands(Lowering *l, int dst_count, int src_count) {
    MoreOperands *more = arena_alloc(l->arena, sizeof *more);
    int32_t *dst = arena_array(l->arena, (size_t)dst_count + 1, sizeof *dst);
    Operand *src = arena_array(l->arena, (size_t)src_count + 1, sizeof *src);
    if (!more || !dst || !src) {
        lower_no_memory(l);
        return NULL;
    }
    *more = (MoreOperands){dst, src, (uint8_t)dst_count, (uint8_t)src_count};
    return more;
}

bool emit(Lowering *l, const PtxInstruction *in, const Instruction *built) {
    Instruction *grown =
        arena_grow(l->arena, l->code, &l->code_capacity, (size_t)l->count + 1, sizeof *l->code);
    if (!grown) return lower_no_memory(l);
    l->code = grown;
    Instruction *out = &l->code[l->count];
    *out = *built;
    out->index = l->count++;
    out->location = l->location;
    out->is_of_several_lines = l->is_of_several_lines;
    if (!in) return true;
    out->ptx_line = in->line;
    if (in->guard) {
        out->guard = l->register_offset[in->guard->index];
        out->guard_negated = in->guard_negated;
    }
    return true;
}
