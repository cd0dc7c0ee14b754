#include "driver/page/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Terminal terminal_of_stdout(void) {
    Terminal terminal = {0};
    setlocale(LC_CTYPE, "");
    terminal.has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    // https://no-color.org: set to anything but an empty string.
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    bool refuses = (no_colour && *no_colour) || !term || strcmp(term, "dumb") == 0;
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
