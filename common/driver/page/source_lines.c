#include "driver/page/source_lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"

enum { MAX_SOURCE_BYTES = 4 * 1024 * 1024, MAX_LINE_SHOWN = 400 };

static bool is_below_here(const char *file) {
    char here[PATH_MAX], there[PATH_MAX];
    if (!file[0] || !getcwd(here, sizeof here) || !realpath(file, there)) return false;
    size_t length = strlen(here);
    return strncmp(there, here, length) == 0 && there[length] == '/';
}

bool source_read(const char *file, Text *text) {
    FileError error;
    text_cut(text, 0);
    return is_below_here(file) && read_regular_file(file, MAX_SOURCE_BYTES, text, &error);
}

bool source_pick(const Text *whole, int line, Text *text) {
    const char *at = text_chars(whole), *end = at + whole->bytes;
    for (int i = 1; i < line; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at) return false;
        at++;
    }
    if (line < 1 || at >= end) return false;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    text_cut(text, 0);
    Text spaced = {0}; // tabs would move the text after them
    for (size_t i = 0; i < length && i < MAX_LINE_SHOWN; i++) {
        if (at[i] == '\t')
            text_add(&spaced, "    ");
        else if (at[i] != '\r')
            text_add_char(&spaced, at[i]);
    }
    text_add_printable(text, text_chars(&spaced), spaced.bytes);
    text_free(&spaced);
    return true;
}

bool source_line(const char *file, int line, Text *text) {
    Text whole = {0};
    bool found = source_read(file, &whole) && source_pick(&whole, line, text);
    text_free(&whole);
    return found;
}
