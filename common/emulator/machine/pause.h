// Pauses of a launch that polls memory, in which others may change it (EmulatorLaunch.pause).
#pragma once

#include "emulator/machine/machine.h"

// Between two turns: pauses if the launch has polled for so long that it may be waiting for others.
void pause_if_it_may_wait(Machine *machine);
// The same only if it has done something else meanwhile.
void pause_if_it_polls_much(Machine *machine);
// All threads wait. Returns whether others may have changed what they wait for.
bool pause_while_waiting(Machine *machine);
