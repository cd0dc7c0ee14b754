// The result as editors read it: `path:line:column: error: text`, one line for each place.
#pragma once

#include "support/text.h"
#include "driver/page/report.h"

// Nothing for a kernel that passes, except notes.
void page_add_editor_lines(Text *page, const Report *report);
