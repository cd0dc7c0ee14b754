// The functions that device code calls and nobody defines: vprintf, __assertfail, malloc and free.
#pragma once

#include "emulator/machine/machine.h"

void execute_syscall(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);
