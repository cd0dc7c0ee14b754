// Waiting for an mbarrier. The handler is declared in handlers.h.
#pragma once

#include "emulator/machine/machine.h"

// Tells observers that `lane` waits for ever at `in`; `threads`: that wait.
void mbarrier_deadlock(Machine *machine, Warp *warp, unsigned lane, const unsigned char *registers,
                       const Instruction *in, uint32_t threads);
