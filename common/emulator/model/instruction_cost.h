// What one PTX instruction costs, whatever is around it. Internal to the time model.
#pragma once

#include <string.h>

#include "emulator/model/cost.h"

static const float latency_alu = 4.5F, latency_wide = 6; // of 32-bit arithmetic; of a product of 64 bits

static inline bool is_named(const PtxInstruction *in, const char *opcode) {
    return strcmp(in->opcode, opcode) == 0;
}

// What is loaded from constant memory, at an address that is known when it is compiled, is an operand of the
// arithmetic that uses it, and needs no instruction and no register.
static inline bool is_constant_operand(const Instruction *in) {
    return in->kind == KIND_LOAD && in->space == PTX_SPACE_CONST && in->src[0].constant;
}

// Fills in slots, pipes and latency. ptx: the instruction's text, or NULL.
void cost_instruction(const Instruction *in, const PtxInstruction *ptx, InstructionCost *cost);
