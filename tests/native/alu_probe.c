// Runs one arithmetic instruction on 32 lanes, for tests/alu: parses "add.rn.f32", asks the opcode's
// selector, checks the operands as lowering would, lays them out as registers and calls the handler.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/alu/alu.h"
#include "emulator/program/opcodes.h"

enum { MAX_WORDS = 16, MAX_OPERANDS = 9, REGISTER_BYTES = 8 * WARP_SIZE, HEADER_BYTES = 64 };

enum ProbeResult {
    PROBE_OK,
    PROBE_UNKNOWN_OPCODE,
    PROBE_NOT_ARITHMETIC,
    PROBE_UNKNOWN_FORM, // the selector says no
    PROBE_BAD_OPERANDS, // their number
    PROBE_BAD_WIDTH,    // of a register
    PROBE_BAD_CALL,     // of the probe
};

typedef struct {
    PtxOperand operand; // as the parser would give it
    PtxOperand elements[4];
    PtxRegister registers[4];
    PtxType types[4]; // of the flattened parts; PTX_NO_TYPE is `_`
    int parts;
} Parsed;

static unsigned lane_bytes(PtxType type) {
    const unsigned bytes = ptx_type_bytes(type);
    return bytes == 1 ? 2 : bytes;
}

// "f32", "pred|pred", "{b16,b16}", "_" or "#f32" (an immediate, which has no register).
static bool parse_operand(const char *text, Parsed *p) {
    memset(p, 0, sizeof *p);
    char copy[64];
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    const bool vector = copy[0] == '{', pair = strchr(copy, '|') != NULL;
    for (char *save = NULL, *part = strtok_r(copy, "{},|", &save); part;
         part = strtok_r(NULL, "{},|", &save)) {
        if (p->parts == 4) return false;
        const int k = p->parts++;
        const bool immediate = part[0] == '#';
        if (!strcmp(part, "_")) {
            p->elements[k].kind = PTX_OPERAND_SINK;
            continue;
        }
        p->types[k] = ptx_type_named(part + immediate);
        if (p->types[k] == PTX_NO_TYPE) return false;
        p->registers[k] = (PtxRegister){.name = "%r", .type = p->types[k]};
        p->elements[k].kind = immediate ? PTX_OPERAND_INTEGER : PTX_OPERAND_REGISTER;
        p->elements[k].reg = immediate ? NULL : &p->registers[k];
    }
    if (p->parts == 0) return false;
    p->operand = p->elements[0];
    if (vector || pair) {
        p->operand = (PtxOperand){.kind = vector ? PTX_OPERAND_VECTOR : PTX_OPERAND_PAIR,
                                  .elements = p->elements,
                                  .element_count = p->parts};
    }
    return true;
}

static bool width_fits(PtxType have, PtxType want, bool wide_ok) {
    if ((have == PTX_PRED) != (want == PTX_PRED)) return false;
    const unsigned h = lane_bytes(have), w = lane_bytes(want);
    return h == w || (wide_ok && h > w);
}

// `text` is the instruction's dotted name; `operands` its operands' types, separated by blanks, the
// destination first. `data` has an array for each flattened operand but the literals: 32 lanes, or one
// uint32_t for a predicate. Destinations are read before and written after. `alias`, unless -1, is the
// flattened source whose register destination 0 shares. `carry` is CC.CF. `constants` is a bit mask of
// flattened sources that are given as constants.
int alu_probe(const char *text, const char *operands, int destinations, void **data, uint32_t mask,
              uint32_t *carry, const uint32_t *literals, int literal_count, int alias, uint32_t constants,
              int *float_ops) {
    char words[128], types[256];
    if (strlen(text) >= sizeof words || strlen(operands) >= sizeof types || destinations > 1)
        return PROBE_BAD_CALL;
    strcpy(words, text);
    strcpy(types, operands);

    const char *modifiers[MAX_WORDS];
    PtxInstruction in = {.modifiers = modifiers};
    char *save = NULL;
    in.opcode = strtok_r(words, ".", &save);
    for (char *word; (word = strtok_r(NULL, ".", &save));) {
        if (in.modifier_count == MAX_WORDS) return PROBE_BAD_CALL;
        modifiers[in.modifier_count++] = word;
    }
    static Parsed parsed[MAX_OPERANDS];
    PtxOperand list[MAX_OPERANDS];
    save = NULL;
    for (char *type = strtok_r(types, " ", &save); type; type = strtok_r(NULL, " ", &save)) {
        if (in.operand_count == MAX_OPERANDS || !parse_operand(type, &parsed[in.operand_count]))
            return PROBE_BAD_CALL;
        list[in.operand_count] = parsed[in.operand_count].operand;
        in.operand_count++;
    }
    const int given = in.operand_count;
    for (int k = 0; k < literal_count && in.operand_count < MAX_OPERANDS; k++)
        list[in.operand_count++] = (PtxOperand){.kind = PTX_OPERAND_INTEGER, .integer = literals[k]};
    in.operands = list;

    const Opcode *opcode = opcode_named(in.opcode);
    if (!opcode) return PROBE_UNKNOWN_OPCODE;
    if (opcode->kind != KIND_ALU) return PROBE_NOT_ARITHMETIC;
    Selection selection;
    memset(&selection, 0, sizeof selection);
    if (!opcode_select(opcode, &in, &selection)) return PROBE_UNKNOWN_FORM;
    if (selection.literals != literal_count) return PROBE_BAD_OPERANDS;
    if (float_ops) *float_ops = selection.float_ops;

    // Registers: the header with the carry, then one full-width register for each flattened operand.
    static _Alignas(64) unsigned char registers[HEADER_BYTES + 4 * MAX_OPERANDS * REGISTER_BYTES];
    Instruction built = {.alu = selection.handler, .form = selection.form, .dst = {-1, -1, -1, -1}};
    memcpy(registers + CARRY_OFFSET, carry, sizeof *carry);
    int slot = 0, sources = 0, wanted_dst = 0, wanted_src = 0;
    while (wanted_dst < 4 && selection.dst[wanted_dst]) wanted_dst++;
    while (wanted_src < 5 && selection.src[wanted_src]) wanted_src++;
    for (int o = 0; o < given; o++) {
        for (int k = 0; k < parsed[o].parts; k++, slot++) {
            const PtxType type = parsed[o].types[k];
            const int32_t offset = HEADER_BYTES + slot * REGISTER_BYTES;
            const size_t bytes = type == PTX_PRED ? sizeof(uint32_t) : lane_bytes(type) * WARP_SIZE;
            if (type != PTX_NO_TYPE) memcpy(registers + offset, data[slot], bytes);
            if (o < destinations) {
                if (k >= wanted_dst) return PROBE_BAD_OPERANDS;
                if (type != PTX_NO_TYPE && !width_fits(type, selection.dst[k], selection.wide_ok))
                    return PROBE_BAD_WIDTH;
                built.dst[k] = type == PTX_NO_TYPE ? -1 : offset;
                built.dst_count++;
            } else {
                if (sources >= wanted_src) return PROBE_BAD_OPERANDS;
                if (!width_fits(type, selection.src[sources], selection.wide_ok)) return PROBE_BAD_WIDTH;
                built.src[sources].offset = offset;
                if (constants >> sources & 1u) built.src[sources].constant = registers + offset;
                sources++;
            }
        }
    }
    if (built.dst_count != wanted_dst || sources != wanted_src) return PROBE_BAD_OPERANDS;
    built.src_count = (uint8_t)sources;
    for (int k = 0; k < literal_count && k < 2; k++) built.literal[k] = literals[k];
    if (alias >= 0) {
        // The lanes that the handler leaves alone then keep the source's values.
        built.dst[0] = built.src[alias].offset;
    }
    selection.handler(registers, &built, mask);

    memcpy(carry, registers + CARRY_OFFSET, sizeof *carry);
    slot = 0;
    for (int o = 0; o < given && o < destinations; o++) {
        for (int k = 0; k < parsed[o].parts; k++, slot++) {
            const PtxType type = parsed[o].types[k];
            const size_t bytes = type == PTX_PRED ? sizeof(uint32_t) : lane_bytes(type) * WARP_SIZE;
            if (built.dst[k] >= 0) memcpy(data[slot], registers + built.dst[k], bytes);
        }
    }
    return PROBE_OK;
}

// The name of opcode i and whether it is arithmetic, for the test that all of them are covered.
const char *alu_probe_opcode(int i, int *is_alu) {
    if (i < 0 || i >= opcode_count) return NULL;
    *is_alu = opcode_table[i].kind == KIND_ALU;
    return opcode_table[i].name;
}
