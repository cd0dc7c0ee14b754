// The state of one lowering, and what the parts of lowering offer to each other. From the bottom up:
//     emit.c        errors, appending an instruction
//     place.c       where registers, parameters and local variables lie
//     operand.c     operands: registers, constants, addresses of variables, special registers
//     arithmetic.c  arithmetic, through the opcode's selectors
//     memory.c      loads, stores, atomics, address spaces
//     tensor_copy.c, async.c  asynchronous copies; mbarrier.c  mbarriers
//     matrix_words.c, matrix_memory.c, matrix.c   matrix instructions: words, what moves fragments,
//     multiplications lanes.c       barriers, fences, shuffles, votes and their kin control.c     branches,
//     calls, returns, and what takes no operands
// opcodes.def names for each opcode the function of these that decodes it; lower.c calls it.
#pragma once

#include "emulator/arena.h"
#include "emulator/program/lower.h"

struct Lowering {
    Arena *arena;
    Program *program;
    PtxModule *module;
    EmulatorError *error;
    char refused[512]; // the message of the last error, without its place
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
    int32_t location;         // the last one with a line
    bool is_of_several_lines; // the instruction being lowered has none
    const Opcode *opcode;     // of the instruction being lowered

    struct Splat {
        uint64_t bits;
        unsigned width; // of a lane; 0: a predicate
        const void *lanes;
    } * splats;
    size_t splat_capacity;
    int splat_count;
    struct MatrixForms *matrix_forms; // that multiplications have had: matrix.c
};

// ---- emit.c -----------------------------------------------------------------------------------------------

// These four return false. The first writes a caret under the instruction, the third and fourth name what is
// wrong with it: a dotted word, or operands that are not as `wanted`.
bool lower_fail(Lowering *l, EmulatorStatus status, const PtxInstruction *in, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool lower_no_memory(Lowering *l);
bool unsupported_form(Lowering *l, const PtxInstruction *in, const char *word);
bool wrong_operands(Lowering *l, const PtxInstruction *in, const char *wanted);
// Whether so many operands are what the opcode's row asks for; fails with its words where they are not.
bool operands_fit(Lowering *l, const PtxInstruction *in, int given);

// An instruction of that kind to be filled in, and appending it with the place and guard of `in` (NULL:
// none).
Instruction blank(InstructionKind kind);
bool emit(Lowering *l, const PtxInstruction *in, const Instruction *built);

// Room for so many more registers that an instruction writes and reads; NULL after an error.
MoreOperands *more_operands(Lowering *l, int dst_count, int src_count);

// ---- place.c ----------------------------------------------------------------------------------------------

enum { MAX_REGISTER_FILE = 64 << 20 }; // bytes of one warp

// Gives every register, variable and parameter of the function its place; false when they do not fit.
bool place_all(Lowering *l);
// Bytes of a lane of a register of that type; 0 for a predicate.
unsigned lane_width(PtxType type);
// Room for one more register of that lane width; its offset.
int32_t new_register(Lowering *l, unsigned width);
// Where a .param variable of a call sequence or of this function lies; NULL when it is none of these.
const ParamPlace *param_place(Lowering *l, const PtxVariable *v);

// ---- operand.c --------------------------------------------------------------------------------------------

// An operand read as `type`; may append instructions that compute it first. `wide_ok` lets a register be
// wider than the type.
bool lower_source(Lowering *l, const PtxInstruction *in, const PtxOperand *o, PtxType type, bool wide_ok,
                  Operand *out);
// The register offset of a destination, -1 for a sink.
bool lower_destination(Lowering *l, const PtxInstruction *in, const PtxOperand *o, PtxType type, bool wide_ok,
                       int32_t *out);
// A constant integer operand.
bool lower_literal(Lowering *l, const PtxInstruction *in, const PtxOperand *o, uint32_t *out);

// ---- memory.c ---------------------------------------------------------------------------------------------

// [register + offset] or [variable + offset]: out->src[k], Instruction.offset and ADDRESS_32.
bool lower_address(Lowering *l, const PtxInstruction *in, const PtxOperand *o, Instruction *out, int k);
// A word that changes nothing here: a cache, or a hint for one.
bool is_cache_word(const char *word);
// The words of an atomic: its operation; whether there is one of the type; a handler for 16-bit floats.
bool atomic_word(const char *word, Instruction *out);
bool atomic_type_known(const Instruction *in);
bool choose_float_handler(Instruction *atomic);

// ---- bulk.c, tensor_copy.c --------------------------------------------------------------------------------

// Begins a bulk copy or reduction, of a tensor or not; NULL when memory ran out, which is reported.
BulkDetail *begin_bulk(Lowering *l, bool is_reduction, Instruction *built);
// cp.async.bulk and cp.reduce.async.bulk, without or with .tensor, whose words from `first` on say more.
bool lower_bulk(Lowering *l, const PtxInstruction *in, int first, bool is_reduction);
bool lower_tensor_copy(Lowering *l, const PtxInstruction *in, int first, bool is_reduction);

// ---- The functions that opcodes.def names -----------------------------------------------------------------

Lower lower_arithmetic;
#define OPCODE(name, kind, least, most, wanted, lower, run) Lower lower;
#define ALIKE(name, kind, least, most, wanted, lower) Lower lower;
#include "emulator/program/opcodes.def"
