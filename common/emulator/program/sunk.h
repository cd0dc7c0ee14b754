// Loads that ptxas moves down to the only way that needs their value.
#pragma once

#include "emulator/program/program.h"

// Fills Instruction.to_branch and is_for_taken of a function's loads, and branch_of of the branches that
// decide about them. It needs what find_predicated() has found. False if there is no memory.
bool find_sunk_loads(Function *function);
