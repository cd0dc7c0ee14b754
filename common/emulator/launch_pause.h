// The pause of a launch, in which others use the same emulator.
#pragma once

#include "emulator/machine/machine.h"

// Calls EmulatorLaunch.pause, whose answer it returns. Races are those of one launch, so what racecheck keeps
// with the objects is taken out meanwhile. False also when memory runs out.
bool launch_pause(Machine *machine, EmulatorPause why);
