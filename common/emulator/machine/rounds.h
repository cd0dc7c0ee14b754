// What machine code does in loops that ptxas unrolls (program/unrolled.h).
#pragma once

#include "emulator/machine/machine.h"

// The lanes `active` come to the branch `in` that closes such a loop, and those of `mask` turn again. When
// the last have left, tallies what the loop has been in machine code.
void end_round(Warp *warp, const Instruction *in, Tally *tally, uint32_t mask, uint32_t active);
