// Which block and which warp runs when.
#pragma once

#include "emulator/machine/machine.h"

// Runs all blocks of the launch to their end, or until the machine is stopped.
void run_grid(Machine *machine);
