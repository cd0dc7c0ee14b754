// Which kernels use which shared variables.
#ifndef WARPBOOK_REACH_H
#define WARPBOOK_REACH_H

#include "emulator/program/opcodes.h"

// Fills Program.shared_uses of the program being lowered, whose shared variables are laid out. False after an
// error.
bool find_shared_uses(Lowering *lowering);

#endif
