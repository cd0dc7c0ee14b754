// Keeps which bytes a launch reads and writes, and where: EmulatorLaunch.touched.
#pragma once

#include "emulator/machine/machine.h"

// False when memory ran out.
bool touched_observe(Machine *machine, Observer *observer);
