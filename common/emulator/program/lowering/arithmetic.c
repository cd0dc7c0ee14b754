// Decodes arithmetic: the opcode's selectors choose the handler and say what the operands are.
#include <stdio.h>
#include <string.h>

#include "emulator/alu/slow_path.h"
#include "emulator/program/lowering/lowering.h"

// Vectors, pairs and lists become their elements, in order.
static int flatten(const PtxOperand *operands, int count, const PtxOperand **flat, int capacity) {
    int used = 0;
    for (int i = 0; i < count; i++) {
        const PtxOperand *o = &operands[i];
        bool compound = o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_PAIR;
        for (int k = 0; k < (compound ? o->element_count : 1); k++) {
            if (used == capacity) return capacity + 1;
            flat[used++] = compound ? &o->elements[k] : o;
        }
    }
    return used;
}

static bool unknown_form(Lowering *l, const PtxInstruction *in) {
    char words[128] = "";
    size_t used = 0;
    for (int i = 0; i < in->modifier_count && used < sizeof words - 1; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, ".%s", in->modifiers[i]);
    return lower_fail(l, EMULATOR_UNSUPPORTED, in, "this form of %s is not supported: %s%s", in->opcode,
                      in->opcode, words);
}

static uint8_t value_operation(const char *opcode) {
    static const struct {
        const char *opcode;
        ValueOperation operation;
    } known[] = {{"mov", VALUE_MOVED}, {"selp", VALUE_CHOSEN}, {"and", VALUE_AND}, {"or", VALUE_OR}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(opcode, known[i].opcode)) return (uint8_t)known[i].operation;
    return VALUE_COMPUTED;
}

bool lower_arithmetic(Lowering *l, const PtxInstruction *in) {
    Selection selection = {0};
    if (!opcode_select(l->opcode, in, &selection)) return unknown_form(l, in);
    int destinations = 0, sources = 0;
    while (destinations < 4 && selection.dst[destinations]) destinations++;
    while (sources < 5 && selection.src[sources]) sources++;
    const PtxOperand *flat[12] = {NULL};
    int flat_count = flatten(in->operands, in->operand_count, flat, 12);
    // The second of a destination pair may be left out.
    int given = destinations;
    if (flat_count == destinations + sources + selection.literals - 1 && destinations == 2 &&
        in->operands[0].kind != PTX_OPERAND_PAIR && in->operands[0].kind != PTX_OPERAND_VECTOR)
        given = 1;
    if (flat_count != given + sources + selection.literals)
        return lower_fail(l, EMULATOR_BAD_PTX, in, "%s takes %d operands, not %d", in->opcode,
                          destinations + sources + selection.literals, flat_count);
    Instruction built = blank(KIND_ALU);
    built.alu = selection.handler;
    built.float_ops = (uint8_t)selection.float_ops;
    built.form = selection.form;
    built.slow_path = (uint8_t)slow_path_of(in);
    built.flags = selection.has_carry ? HAS_CARRY : 0;
    built.operation = value_operation(l->opcode->name);
    PtxType element = given > 1 ? selection.dst[0] : sources ? selection.src[0] : PTX_NO_TYPE;
    built.width = element == PTX_NO_TYPE || element == PTX_PRED ? 0 : (uint8_t)ptx_type_bytes(element);
    built.dst_count = (uint8_t)given;
    built.src_count = (uint8_t)sources;
    for (int k = 0; k < given; k++)
        if (!lower_destination(l, in, flat[k], selection.dst[k], selection.wide_ok, &built.dst[k]))
            return false;
    for (int k = 0; k < sources; k++)
        if (!lower_source(l, in, flat[given + k], selection.src[k], selection.wide_ok, &built.src[k]))
            return false;
    for (int k = 0; k < selection.literals && k < 2; k++)
        if (!lower_literal(l, in, flat[given + sources + k], &built.literal[k])) return false;
    return emit(l, in, &built);
}
