// Bandwidth without a GPU: a part of the timed size runs on the emulator, and the time model (model.h) says
// how long the whole would take on the device of the profile. The reference is estimated in the same way; the
// result is stored beside its image.
#pragma once

#include "driver/judge/state.h"

// Fills in judgement->bandwidth of every task, modelled for the profile's device; or judgement->timings with
// --time.
void judge_model(Judge *judge);
// An emulator with the reference, if there is one: judge->subjects->reference. NULL if it does not start.
Runner *start_reference(const Judge *judge);
