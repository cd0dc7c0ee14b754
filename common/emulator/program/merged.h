// Which accesses to shared memory ptxas makes one access of 64 or 128 bits.
#pragma once

#include "emulator/program/program.h"

// Fills Instruction.merged_bytes and merged_shift of a function's loads and stores. False when memory ran
// out.
bool find_merged_accesses(Function *function);
