// What the page is made of: rows of a label and words, and the parts that have files of their own.
#ifndef WARPBOOK_PAGE_PARTS_H
#define WARPBOOK_PAGE_PARTS_H

#include "report.h"
#include "terminal.h"

enum { LABEL = 2, TEXT_COLUMN = 13, VALUE_COLUMN = 15 };

// "  build      " in front of a row.
void page_add_label(Text *page, const Terminal *terminal, Style style, const char *label);
// A row of words, wrapped below themselves.
void page_add_row(Text *page, const Terminal *terminal, const char *label, const char *words);

// How fast each task is, and beside what.
void page_add_bandwidth(Text *page, const Terminal *terminal, const Report *report);
// --time: the table of sizes.
void page_add_timings(Text *page, const Terminal *terminal, const Report *report);

#endif
