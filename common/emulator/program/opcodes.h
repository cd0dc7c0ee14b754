// The table of all opcodes, opcodes.def, as data: what an opcode is called, takes, and becomes.
#pragma once

#include "emulator/alu/instruction.h"

// What runs a decoded instruction. Arithmetic is one kind: Instruction.alu does it all.
typedef enum {
    KIND_ALU,
#define OPCODE(name, kind, least, most, wanted, lower, run) kind,
#define LOWERED(kind, run) kind,
#include "emulator/program/opcodes.def"
    KIND_COUNT
} InstructionKind;

// Decodes `in`, whose opcode's row is Lowering.opcode, and appends what it becomes. False after an error.
typedef struct Lowering Lowering;
typedef bool Lower(Lowering *lowering, const PtxInstruction *in);

enum { MAX_SELECTORS = 4 };

typedef struct {
    const char *name; // the word before the first dot: "add"
    InstructionKind kind;
    int least, most;    // operands; of arithmetic the selectors know
    const char *wanted; // as in "ld wants a destination and an address"
    Lower *lower;
    Selector *selectors[MAX_SELECTORS]; // of arithmetic
} Opcode;

extern const Opcode opcode_table[]; // in alphabetical order
extern const int opcode_count;
const Opcode *opcode_named(const char *name); // NULL when unknown

// Asks the selectors of an arithmetic opcode in turn. An opcode such as add stands for instructions on
// integers, floats and halves, and each selector refuses the types that are not its own.
static inline bool opcode_select(const Opcode *opcode, const PtxInstruction *in, Selection *selection) {
    for (int i = 0; i < MAX_SELECTORS && opcode->selectors[i]; i++)
        if (opcode->selectors[i](in, selection)) return true;
    return false;
}
