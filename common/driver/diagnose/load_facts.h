// What the loads of a slow kernel show.
#pragma once

#include "driver/diagnose/mistakes.h"
#include "driver/judge/judgement.h"

// Of what an SM lacks for one more block of a launch whose goal of occupancy is missed.
Facts facts_of_residence(const Chapter *of, const Judgement *judgement);
Facts facts_of_loads(const Chapter *of, const Judgement *judgement);
// The line with most accesses to local memory in a task that misses a bandwidth and is limited by
// instructions, if the PTX has a good share of these; 0: none.
int local_line(const Judgement *judgement);
