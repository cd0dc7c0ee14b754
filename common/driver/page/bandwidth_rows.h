// Bandwidth on the page. What is modelled is called modelled.
#pragma once

#include "driver/judge/goal_lines.h"
#include "driver/page/report.h"
#include "driver/page/terminal.h"

// The bandwidth of each task, and what it is compared with.
void page_add_bandwidth(Text *page, const Terminal *terminal, const Report *report);
// The lines of kernel.cu with most of a cost, as a sentence with a blank before it; or nothing.
void page_add_cost_lines(Text *words, const Judgement *judgement, int task, Cost cost);
// With which change of a slow kernel the model would reach the goal, or how far it comes.
void page_add_what_if(Text *page, const Terminal *terminal, const Report *report);
// --time: the table of sizes.
void page_add_timings(Text *page, const Terminal *terminal, const Report *report);
