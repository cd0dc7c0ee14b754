// The page as text: words in at most 80 columns, and rows of a label and words.
#pragma once

#include "driver/page/terminal.h"

enum { PAGE_COLUMNS = 80, LABEL = 2, TEXT_COLUMN = 13, VALUE_COLUMN = 15 };

typedef enum { STYLE_PLAIN, STYLE_STRONG, STYLE_GOOD, STYLE_BAD, STYLE_WARNING, STYLE_FAINT } Style;

// Adds the words in that style; the codes take no columns.
void add_styled(Text *page, const Terminal *terminal, Style style, const char *words);
// Adds `words` from column `at` on, broken between words before column 80; the lines after the first begin at
// column `indent`. Ends without a newline; returns the column reached.
int add_wrapped(Text *page, int at, int indent, const char *words);
// Adds spaces from column `at` to column `to`.
void add_spaces(Text *page, int at, int to);
// Adds as much of the words as fits into so many columns.
void add_cut(Text *page, int columns, const char *words);
// Columns that the words take (one for each character, none for colour codes).
int columns_of(const char *words);

// "  build      " in front of a row.
void page_add_label(Text *page, const Terminal *terminal, Style style, const char *label);
// A row of words, wrapped below themselves.
void page_add_row(Text *page, const Terminal *terminal, const char *label, const char *words);
// Words from column `at` on, the lines after the first from column `indent`, and the end of the line.
void page_add_words(Text *page, int at, int indent, const char *words);
