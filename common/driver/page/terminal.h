// The terminal that the page is for: colours where they are wanted, ASCII where the locale knows no more.
#pragma once

#include "support/text.h"

typedef struct {
    bool has_colour; // standard output is a terminal that shows them and NO_COLOR is not set
    bool has_utf8;   // the locale's encoding
    int columns;     // how wide the terminal is: COLUMNS where it is set, 80 if output goes elsewhere
} Terminal;

Terminal terminal_of_stdout(void);

// Writes the page to standard output, with '?' for what the locale cannot show.
void terminal_write(const Terminal *terminal, const Text *page);
