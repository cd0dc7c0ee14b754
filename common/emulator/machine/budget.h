// The memory that warps and blocks in flight take: as much as this machine has, less a reserve.
#pragma once

#include "emulator/machine/machine.h"

// Takes `bytes` out of the budget. False, after a RESOURCE finding with the figures, if they are not left.
bool budget_take(Machine *machine, const Warp *warp, size_t bytes, const char *what);
