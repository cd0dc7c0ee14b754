// The learner's predictions (`make predict-chNN`) beside the counted values. They are not graded.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

// Adds the rows of progress/predictions/chNN.txt; nothing if there is no file. Each line of that file has,
// separated by tabs, a measure as in goals, its task or nothing, its name, and the predicted number.
void page_add_predictions(Text *page, const Terminal *terminal, const Report *report);
