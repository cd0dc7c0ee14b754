// Loads whose value a selection takes or drops.
#pragma once

#include "emulator/program/blocks.h"

// Fills Instruction.to_choice and is_second_choice of a function's loads, choice_of of the selections (selp)
// that decide about them, and Function.has_choices. False if there is no memory.
bool find_choices(Function *function, const Flow *flow);
