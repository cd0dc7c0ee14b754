// What the goals earn: counted at several sizes and addresses, and judged for several GPUs.
#pragma once

#include "driver/judge/state.h"

// Notes the launch of a case that is counted: its shape, its output and what its kernels need.
void judge_measure_shape(const Judge *judge, const Case *one, const CaseShape *shape, Measured *measured);
// The same for all counted cases, once all cases have run.
void judge_measure_shapes(Judge *judge);
// Evaluates the goals, once the bandwidth is known, and adds up the points; the verdict may become SLOW.
void judge_goals(Judge *judge);
