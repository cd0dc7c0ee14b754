// The runners of a run: the device's own, and emulators for a second pair of eyes or a second core.
#pragma once

#include "driver/judge/state.h"

// Starts the runners for the cases that the options ask for, and plans those. False with the judgement's
// words.
bool judge_start_workers(Judge *judge);
