#include "driver/page/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_COLUMNS = 80, LEAST_COLUMNS = 40, MOST_COLUMNS = 400 };

// COLUMNS is what a shell exports, and what a person sets where output goes into a file.
static int columns_of_stdout(void) {
    const char *told = getenv("COLUMNS");
    struct winsize size;
    int columns = told ? atoi(told) : 0;
    if (columns <= 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0) return USUAL_COLUMNS;
    return columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
}

Terminal terminal_of_stdout(void) {
    Terminal terminal = {0};
    setlocale(LC_CTYPE, "");
    terminal.has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    // https://no-color.org: set to anything but an empty string.
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    bool refuses = (no_colour && *no_colour) || !term || strcmp(term, "dumb") == 0;
    terminal.columns = columns_of_stdout();
    terminal.has_colour = isatty(STDOUT_FILENO) && !refuses;
    return terminal;
}

void terminal_write(const Terminal *terminal, const Text *page) {
    const char *at = text_chars(page);
    if (terminal->has_utf8) {
        fwrite(at, 1, page->bytes, stdout);
    } else {
        for (; *at; at++) {
            unsigned char byte = (unsigned char)*at;
            if (byte < 0x80)
                putchar(byte);
            else if ((byte & 0xc0) != 0x80)
                putchar('?'); // one for each character
        }
    }
}
