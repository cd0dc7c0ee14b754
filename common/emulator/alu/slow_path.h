// Divisions, reciprocals and roots that are rounded to nearest have two ways in machine code: a short one,
// and a branch to a longer one for the lanes whose operands are too large, too small, or not numbers.
#pragma once

#include "emulator/alu/instruction.h"

typedef enum {
    NO_SLOW_PATH,
    SLOW_DIV_F32,
    SLOW_RCP_F32,
    SLOW_SQRT_F32,
    SLOW_DIV_F64,
    SLOW_RCP_F64,
    SLOW_SQRT_F64,
} SlowPath;

SlowPath slow_path_of(const PtxInstruction *in);
// The lanes of `mask` that take the longer way. The registers are those before the instruction.
uint32_t slow_lanes(const unsigned char *registers, const Instruction *in, uint32_t mask);
