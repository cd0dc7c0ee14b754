// Records the timing of a launch for the time model: the clock of every warp, and which warp touched which
// sector when. Internal to common/emulator; what it finds is ModelWork of model.h.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/model/work.h"

typedef struct Timing Timing;

// Starts to follow the launch; its Observer must be added too. NULL when memory ran out.
Timing *timing_new(Machine *machine, Observer *observer);
// Ends: what was found goes to `work`, and `timing` is no more.
void timing_finish(Timing *timing, ModelWork *work);
