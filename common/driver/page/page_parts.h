// What the page is made of: rows of a label and words, and the parts that have files of their own.
#ifndef WARPBOOK_PAGE_PARTS_H
#define WARPBOOK_PAGE_PARTS_H

#include "driver/page/report.h"
#include "driver/page/terminal.h"

enum { LABEL = 2, TEXT_COLUMN = 13, VALUE_COLUMN = 15 };

// "  build      " in front of a row.
void page_add_label(Text *page, const Terminal *terminal, Style style, const char *label);
// A row of words, wrapped below themselves.
void page_add_row(Text *page, const Terminal *terminal, const char *label, const char *words);

// Words from column `at` on, the lines after the first from column `indent`, and the end of the line.
void page_add_words(Text *page, int at, int indent, const char *words);
// The mistake by its name where it is known, else what the verdict usually comes from. `why` is what the
// numbers say (`is_evidence`, shown in either case) or the general sentence. `task`: -1 for none.
void page_add_why(Text *page, const Terminal *terminal, const Report *report, const char *why,
                  bool is_evidence, int task);

// right.c: what was tried, and the goals.
void page_add_correct(Text *page, const Terminal *terminal, const Report *report);
void page_add_goals(Text *page, const Terminal *terminal, const Report *report);
// failure.c: the first failure in full, and the rest as numbers.
void page_add_failure(Text *page, const Terminal *terminal, const Report *report);

// How fast each task is, and beside what.
void page_add_bandwidth(Text *page, const Terminal *terminal, const Report *report);
// --time: the table of sizes.
void page_add_timings(Text *page, const Terminal *terminal, const Report *report);

#endif
