// The functions that device code calls and nobody defines: vprintf and __assertfail.
#ifndef WARPBOOK_SYSCALL_H
#define WARPBOOK_SYSCALL_H

#include "emulator/machine/machine.h"

void execute_syscall(Machine *machine, Warp *warp, Fragment *fragment, const Instruction *in, uint32_t mask);

#endif
