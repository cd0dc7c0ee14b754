// Bandwidth by measurement: the kernel in turn with the reference on the device's runner, and what the
// samples say. The loop itself is in the runner (timing.c); this file makes the requests and interprets the
// answers.
#pragma once

#include "driver/judge/state.h"

// Fills in judgement->bandwidth of every task, measured on the device; or judgement->timings with --time.
void judge_measure(Judge *judge);
