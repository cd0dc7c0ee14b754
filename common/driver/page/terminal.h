// Text for people: at most 80 columns, colours where they are wanted, ASCII where the locale knows no more.
#ifndef WARPBOOK_TERMINAL_H
#define WARPBOOK_TERMINAL_H

#include "support/text.h"

enum { PAGE_COLUMNS = 80 };

typedef struct {
    bool has_colour; // standard output is a terminal that shows them and NO_COLOR is not set
    bool has_utf8;   // the locale's encoding
} Terminal;

Terminal terminal_of_stdout(void);

typedef enum { STYLE_PLAIN, STYLE_STRONG, STYLE_GOOD, STYLE_BAD, STYLE_WARNING, STYLE_FAINT } Style;

// Adds the words in that style; the codes take no columns.
void add_styled(Text *page, const Terminal *terminal, Style style, const char *words);
// Adds `words` from column `at` on, broken between words before column 80; the lines after the first begin at
// column `indent`. Ends without a newline; returns the column reached.
int add_wrapped(Text *page, int at, int indent, const char *words);
// Adds spaces from column `at` to column `to`.
void add_spaces(Text *page, int at, int to);
// Columns that the words take (one for each character, none for colour codes).
int columns_of(const char *words);
// Writes the page to standard output, with '?' for what the locale cannot show.
void terminal_write(const Terminal *terminal, const Text *page);

#endif
