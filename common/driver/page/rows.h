// What the page is made of: rows of a label and words.
#ifndef WARPBOOK_ROWS_H
#define WARPBOOK_ROWS_H

#include "driver/page/terminal.h"

enum { LABEL = 2, TEXT_COLUMN = 13, VALUE_COLUMN = 15 };

// "  build      " in front of a row.
void page_add_label(Text *page, const Terminal *terminal, Style style, const char *label);
// A row of words, wrapped below themselves.
void page_add_row(Text *page, const Terminal *terminal, const char *label, const char *words);
// Words from column `at` on, the lines after the first from column `indent`, and the end of the line.
void page_add_words(Text *page, int at, int indent, const char *words);

#endif
