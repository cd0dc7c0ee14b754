// Bandwidth on the page. What is modelled is called modelled.
#pragma once

#include "driver/judge/goal_lines.h"
#include "driver/page/report.h"
#include "driver/page/terminal.h"

// The bandwidth of each task, and what it is compared with.
void page_add_bandwidth(Text *page, const Terminal *terminal, const Report *report);
// "In a request of line 30 neighbouring lanes are 8 words apart: the words of 32 lanes are in 4 of 32 banks,
// up to 8 in a bank." with a blank before it; nothing if lanes do not meet in banks there.
void page_add_conflict(Text *words, const Judgement *judgement, int task, int line);
// "In a request of line 20 neighbouring lanes are 32 bytes apart: 32 lanes of 4 bytes touch 32 sectors."
void page_add_scatter(Text *words, const Judgement *judgement, int task, int line);
// With which change of a slow kernel the model would reach the goal, or how far it comes.
void page_add_what_if(Text *page, const Terminal *terminal, const Report *report);
// --time: the table of sizes.
void page_add_timings(Text *page, const Terminal *terminal, const Report *report);
