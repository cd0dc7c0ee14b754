// What was counted in each line of the source, in order.
#pragma once

#include "driver/judge/judgement.h"

// By task, file, line and launch.
void counted_lines_sort(Judgement *judgement);

// How many entries from judgement->lines[first] on are one line of a task: of several launches, or inlined at
// several places. Sorted.
int counted_lines_alike(const Judgement *judgement, int first);
