// A right result on the page: the cases that passed, and the goals.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

void page_add_correct(Text *page, const Terminal *terminal, const Report *report);
void page_add_goals(Text *page, const Terminal *terminal, const Report *report);
// The goals that a task misses whose results are right, while another task fails.
void page_add_missed_goals(Text *page, const Terminal *terminal, const Report *report);
// Barriers without which a goal would be met, or missed by less.
void page_add_needless_barriers(Text *page, const Terminal *terminal, const Report *report);
