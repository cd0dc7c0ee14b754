// Which branches ptxas makes no branches of.
#pragma once

#include "emulator/program/program.h"

// Fills Instruction.is_predicated of a function's branches and predicated_back of what they lead around. It
// needs what find_reconvergence(), find_merged_accesses() and find_gathered_atomics() have found. False if
// there is no memory.
bool find_predicated(Function *function);
// Whether the instruction at `at` ends the kernel, or leads there without doing anything.
bool leads_to_end(const Function *function, int at);
