// What the learner said before the run (`make predict-chNN`), beside what was counted. Never graded.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

// Adds the rows of progress/predictions/chNN.txt; nothing where there is none. Each line of that file holds,
// between tabs, a measure as goals have, its task or nothing, what it is called, and the number that was
// said.
void page_add_predictions(Text *page, const Terminal *terminal, const Report *report);
