// The decoded instruction: what lowering makes, arithmetic handlers compute and the machine runs.
//
// A register of a warp is 32 lanes side by side: `registers + offset` points at lane 0 and lanes lie
// `lane width` bytes apart. The lane width is 8 for 64-bit types, 4 for 32-bit types, 2 for 16- and 8-bit
// types; a predicate register is one uint32_t, bit l for lane l. Constants are splatted the same way, so
// a handler reads an immediate exactly as it reads a register.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emulator/ptx/ptx.h"

#define WARP_SIZE 32u
#define FULL_MASK 0xffffffffu

// Every register file begins with this many bytes that belong to no register. The carry bits of add.cc and
// its kin, one uint32_t, bit l for lane l, lie at offset CARRY_OFFSET (ISA, Extended-Precision Integer
// Arithmetic: the condition code register CC.CF).
#define REGISTER_FILE_HEADER 64
#define CARRY_OFFSET 0

typedef struct Instruction Instruction;

// Computes an instruction for the lanes in `mask` (never 0) and leaves all other lanes of its
// destinations alone. Arithmetic only: no memory, no other lanes, no control flow.
typedef void AluHandler(unsigned char *registers, const Instruction *in, uint32_t mask);

typedef struct {
    const void *constant; // 32 splatted lanes (a predicate: one uint32_t), or NULL for a register
    int32_t offset;       // of a register, bytes from the register base
} Operand;

// The registers of an instruction that has more than dst[] and src[] hold: a matrix multiplication.
enum { MOST_MORE_DST = 128, MOST_MORE_SRC = 128 + 4 }; // wgmma: 128 sums, and 4 of a
typedef struct {
    int32_t *dst;
    Operand *src;
    uint8_t dst_count, src_count;
} MoreOperands;

struct Instruction {
    AluHandler *alu;
    uint8_t kind; // InstructionKind of program/opcodes.h: what runs it
    bool guard_negated;
    uint8_t dst_count, src_count;
    uint8_t float_ops;      // per lane
    uint8_t float_distance; // program/float_distance.h
    uint8_t slow_path;      // SlowPath of alu/slow_path.h
    uint16_t form;          // which of its handler's forms; the handler's own numbering
    int32_t guard;          // offset of the guard predicate, or -1
    int32_t dst[4];         // register offsets; -1 for a sink or an absent destination
    Operand src[5];
    const MoreOperands *more; // beside these, or NULL
    uint32_t literal[2];
    int32_t index;    // position in its function
    int32_t number;   // position among all instructions of the program
    int32_t location; // index into PtxModule.locations, or -1
    int32_t ptx_line;
    bool is_of_several_lines; // the compiler joined code of several, so that `location` is of an earlier one

    // Control flow (KIND_BRANCH, KIND_CALL ...)
    int32_t target;     // instruction index
    int32_t reconverge; // immediate post-dominator of a branch; -1: only at the function's end
    int32_t meeting;    // where lanes meet before it that do not leave for it directly; -1: nowhere
    bool uniform;       // .uni
    const void *detail; // what the kind needs beyond this: see program.h (owned by the program)

    // Memory
    uint8_t space;     // PtxSpace; PTX_SPACE_NONE is generic
    uint8_t width;     // bytes of one element in memory
    uint8_t elements;  // 1, 2, 4 or 8
    uint8_t operation; // of an atomic, vote, shuffle, redux: the kind's own enumeration
    uint8_t type;      // PtxType of the element
    uint16_t flags;    // the kind's own bits
    int64_t offset;    // of [register + offset]

    // Of accesses that ptxas makes one (program/merged.h): the first stands for all of them.
    uint8_t merged_bytes; // of the whole; MERGED_AWAY: another stands for it; 0: it is on its own
    int8_t merged_shift;  // from its own address to the first byte of the whole
    bool is_gathered;     // of an atomic: one lane goes to memory for the warp (program/gathered.h)

    // Of loads whose value one selp takes or drops, and of that selp (program/choice.h); 0: of others.
    uint8_t to_choice;     // instructions from the load to the selp
    bool is_second_choice; // which takes the value where its predicate is false
    uint8_t choice_of;     // instructions from the selp back to the first of its loads

    // Of loads that ptxas puts behind a branch, and of that branch (program/sunk.h); 0: of others.
    uint8_t to_branch; // instructions from the load to the branch
    bool is_for_taken; // the way that needs the value
    uint8_t branch_of; // instructions from the branch back to the first of its loads

    // Of branches that ptxas makes predicates of (program/predicated.h), and of what they lead around: how
    // many instructions before it its branch is, or 0.
    bool is_predicated;
    uint8_t machine_cost; // program/machine_cost.h
    uint16_t predicated_back;

    // Of the branch that closes a loop that ptxas unrolls, and of accesses to shared memory there; 0: of
    // others.
    uint8_t unrolled;     // bits of program/unrolled.h
    uint8_t to_round_end; // instructions from the access to the branch
};
enum { MERGED_AWAY = 255 };

static inline const void *source(const unsigned char *registers, const Instruction *in, int k) {
    const Operand *o = &in->src[k];
    return o->constant ? o->constant : registers + o->offset;
}
static inline void *destination(unsigned char *registers, const Instruction *in, int k) {
    return registers + in->dst[k];
}

// ---- Choosing the handler of an arithmetic instruction ----------------------------------------------------

// What an opcode's selector says of one instruction: who computes it and what its operands are. A type
// of PTX_NO_TYPE ends the list. Lowering checks register widths against these types (a register may be
// wider only where `wide_ok`), splats immediates by them, and reports the rest as bad PTX.
typedef struct {
    AluHandler *handler;
    PtxType dst[4];
    PtxType src[5];
    bool has_carry;
    bool wide_ok;  // cvt, ld, st, mov: registers may be wider than the type
    int literals;  // trailing integer operands that must be constants: Instruction.literal
    int float_ops; // per lane, for the counters: add 1, fma 2
    uint16_t form; // for a handler of several forms: Instruction.form
} Selection;

// Fills `selection` for `in`, or returns false when this form of the opcode is not known.
typedef bool Selector(const PtxInstruction *in, Selection *selection);
