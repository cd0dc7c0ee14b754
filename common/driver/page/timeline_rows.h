// The timeline of a program: a line for each stream.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

void page_add_timeline(Text *page, const Terminal *terminal, const Report *report);
