// Local memory: the arrays and the stack of single threads.
#pragma once

#include "emulator/machine/machine.h"

// Makes each lane's local memory hold at least `bytes`; false after a finding.
bool grow_local(Machine *machine, Warp *warp, uint32_t bytes, const Instruction *in);
