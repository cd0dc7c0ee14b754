// What the goals earn: counted at several sizes and addresses, and judged for several GPUs.
#pragma once

#include "driver/judge/state.h"

// Notes the launch shapes of the counted cases, once all cases have run.
void judge_measure_shapes(Judge *judge);
// Evaluates the goals, once the bandwidth is known, and adds up the points; the verdict may become SLOW.
void judge_goals(Judge *judge);
