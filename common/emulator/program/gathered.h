// Which integer atomics ptxas gathers within a warp, so that one lane goes to memory for all.
#pragma once

#include "emulator/program/program.h"

// Fills Instruction.is_gathered. False when memory ran out.
bool find_gathered_atomics(Function *function);
