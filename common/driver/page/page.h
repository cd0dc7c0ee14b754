// The page that ./chNN prints.
#ifndef WARPBOOK_PAGE_H
#define WARPBOOK_PAGE_H

#include "driver/page/report.h"
#include "driver/page/terminal.h"

void page_add(Text *page, const Terminal *terminal, const Report *report);
// --quiet: "ch04 PASS 10/10".
void page_add_quiet(Text *page, const Report *report);
// --profile: counters beside the lines of the source, and the CPU's figures.
void profile_add(Text *page, const Terminal *terminal, const Report *report);

// Line `line` (from 1) of a source file below the working folder, without its newline, safe on a terminal.
// False when there is none. `text` is emptied first.
bool source_line(const char *file, int line, Text *text);
// The whole of such a file, to take several lines of. False where it cannot be read.
bool source_read(const char *file, Text *text);
// Line `line` of a text read whole.
bool source_pick(const Text *whole, int line, Text *text);

#endif
