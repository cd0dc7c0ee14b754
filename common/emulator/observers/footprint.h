// Keeps what blocks read and write: EmulatorLaunch.footprint.
#pragma once

#include "emulator/machine/machine.h"

// False when memory ran out.
bool footprint_observe(Machine *machine, Observer *observer);
