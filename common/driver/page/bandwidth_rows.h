// Bandwidth on the page. What is modelled is called modelled.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

// The bandwidth of each task, and what it is compared with.
void page_add_bandwidth(Text *page, const Terminal *terminal, const Report *report);
// With which change of a slow kernel the model would reach the goal, or how far it comes.
void page_add_what_if(Text *page, const Terminal *terminal, const Report *report);
// --time: the table of sizes.
void page_add_timings(Text *page, const Terminal *terminal, const Report *report);
