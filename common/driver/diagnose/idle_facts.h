// What the shape of a launch shows of threads that have nothing to do.
#pragma once

#include "driver/diagnose/mistakes.h"
#include "driver/judge/judgement.h"

// The line of kernel.cu that single lanes execute most; 0: FACT_ONE_LANE_WORKS does not hold.
int line_of_one_thread(const Judgement *judgement);
Facts facts_of_idle_threads(const Judgement *judgement);
