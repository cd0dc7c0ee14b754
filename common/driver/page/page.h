// The page that ./chNN prints.
#pragma once

#include "driver/page/report.h"
#include "driver/page/terminal.h"

void page_add(Text *page, const Terminal *terminal, const Report *report);
// --quiet: "ch04 PASS 10/10".
void page_add_quiet(Text *page, const Report *report);
