// Runs warps, instruction by instruction.
#pragma once

#include "emulator/machine/machine.h"

// Runs up to `budget` instructions of one warp; returns how many it ran (0: nothing could run).
uint64_t run_warp(Machine *machine, Warp *warp, uint64_t budget);
// Puts all lanes that the warp has at the kernel's first instruction.
void warp_start(Machine *machine, Warp *warp);
