// Registers that a thread may read before it has written them.
#pragma once

#include "emulator/arena.h"
#include "emulator/program/blocks.h"

// Fills Function.unset, except the widths. False when memory ran out.
bool find_unset_registers(Function *function, const Flow *flow, Arena *arena);
