// Shared by lower.c and the other lower_*.c: the state of one lowering. Internal.
#ifndef WARPBOOK_LOWERING_H
#define WARPBOOK_LOWERING_H

#include "emulator/arena.h"
#include "emulator/program/lower.h"

typedef struct {
    Arena *arena;
    Program *program;
    PtxModule *module;
    EmulatorError *error;
    AddressOf *address_of;
    void *context;

    // Of the function being lowered.
    Function *function;
    PtxFunction *ptx;
    int32_t *register_offset;   // by register index
    ParamPlace *variable_place; // by variable index, of .param variables
    uint32_t *local_offset;     // by variable index, of .local variables
    uint32_t register_bytes;
    Instruction *code;
    size_t code_capacity;
    int count;
    int32_t location; // the last one with a line

    struct Splat {
        uint64_t bits;
        unsigned width; // of a lane; 0: a predicate
        const void *lanes;
    } * splats;
    size_t splat_capacity;
    int splat_count;
} Lowering;

// Fails with a caret under the instruction; always returns false.
bool lower_fail(Lowering *l, EmulatorStatus status, const PtxInstruction *in, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool lower_no_memory(Lowering *l);

// Appends a zeroed instruction that inherits `in`'s place and guard; NULL when memory ran out.
Instruction *append(Lowering *l, const PtxInstruction *in);

// ---- lowering/operand.c
// ------------------------------------------------------------------------------------

// Bytes of a lane of a register of that type; 0 for a predicate.
unsigned lane_width(PtxType type);
// Room for one more register of that lane width; its offset.
int32_t new_register(Lowering *l, unsigned width);
// 32 lanes of `bits`.
const void *splat(Lowering *l, uint64_t bits, unsigned width);

// An operand read as `type`; may append instructions that compute it first. `wide_ok` lets a register be
// wider than the type.
bool lower_source(Lowering *l, const PtxInstruction *in, const PtxOperand *o, PtxType type, bool wide_ok,
                  Operand *out);
// The register offset of a destination, -1 for a sink.
bool lower_destination(Lowering *l, const PtxInstruction *in, const PtxOperand *o, PtxType type, bool wide_ok,
                       int32_t *out);
// A constant integer operand.
bool lower_literal(Lowering *l, const PtxInstruction *in, const PtxOperand *o, uint32_t *out);

// ---- lowering/control.c: everything but arithmetic
// ------------------------------------------------------------

bool lower_kind(Lowering *l, const PtxInstruction *in, const Opcode *opcode);

// Fails over a dotted word, or over operands that are not as `wanted`; always returns false.
bool unsupported_form(Lowering *l, const PtxInstruction *in, const char *word);
bool wrong_operands(Lowering *l, const PtxInstruction *in, const char *wanted);
// An instruction of that kind to be filled in, and putting it where append() reserves a place.
Instruction blank(InstructionKind kind);
bool emit(Lowering *l, const PtxInstruction *in, Instruction *built);
// Where a .param variable of a call sequence or of this function lies; NULL when it is none of these.
const ParamPlace *param_place(Lowering *l, const PtxVariable *v);

// lowering/memory.c
bool lower_load_store(Lowering *l, const PtxInstruction *in, bool is_load);
bool lower_atomic(Lowering *l, const PtxInstruction *in);
bool lower_cp_async(Lowering *l, const PtxInstruction *in);
bool lower_isspacep(Lowering *l, const PtxInstruction *in);
bool lower_cvta(Lowering *l, const PtxInstruction *in);

// lowering/lanes.c
bool lower_barrier(Lowering *l, const PtxInstruction *in);
bool lower_lanes(Lowering *l, const PtxInstruction *in, InstructionKind kind);
bool lower_elect(Lowering *l, const PtxInstruction *in);
bool lower_fence(Lowering *l, const PtxInstruction *in);

// ---- reach.c ---------------------------------------------------------------------------------------------

// Fills Program.shared_uses.
bool find_shared_uses(Lowering *l);

#endif
