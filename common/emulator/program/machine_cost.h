// How many machine instructions ptxas makes of PTX.
#pragma once

#include "emulator/program/program.h"

enum { NEVER_PREDICATED = 255 };

// Fills Instruction.machine_cost: the number of machine instructions, or NEVER_PREDICATED for what has a
// branch itself or asks which lanes are there. It needs what find_merged_accesses() and
// find_gathered_atomics() have found. False if there is no memory.
bool find_machine_costs(Function *function);
