// The table of all opcodes: the rows of opcodes.def. An opcode is found by bisection, so the rows must be in
// the order of strcmp(); tests/alu and tests/test_unsupported.py look every one of them up.
#include "emulator/program/opcodes.h"

#include <string.h>

#include "emulator/alu/alu.h"
#include "emulator/program/lowering/lowering.h"

_Static_assert(KIND_COUNT <= UINT8_MAX, "Instruction.kind has 8 bits");

const Opcode opcode_table[] = {
#define ARITHMETIC(name, ...) {#name, KIND_ALU, 0, 0, NULL, lower_arithmetic, {__VA_ARGS__}},
#define OPCODE(name, kind, least, most, wanted, lower, run) {#name, kind, least, most, wanted, lower, {NULL}},
#define ALIKE(name, kind, least, most, wanted, lower) {#name, kind, least, most, wanted, lower, {NULL}},
#include "emulator/program/opcodes.def"
};
const int opcode_count = (int)(sizeof opcode_table / sizeof *opcode_table);

const Opcode *opcode_named(const char *name) {
    int low = 0, high = opcode_count - 1;
    while (low <= high) {
        const int middle = (low + high) / 2, order = strcmp(name, opcode_table[middle].name);
        if (order == 0) return &opcode_table[middle];
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return NULL;
}
