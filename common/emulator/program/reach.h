// Which kernels use which shared variables.
#pragma once

#include "emulator/program/opcodes.h"

// Fills Program.shared_uses of the program being lowered, whose shared variables are laid out. False after an
// error.
bool find_shared_uses(Lowering *lowering);
