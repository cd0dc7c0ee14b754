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

void add_styled(Text *page, const Terminal *terminal, Style style, const char *words) {
    static const char *const codes[] = {
        [STYLE_PLAIN] = "",         [STYLE_STRONG] = "\033[1m",   [STYLE_GOOD] = "\033[32m",
        [STYLE_BAD] = "\033[1;31m", [STYLE_WARNING] = "\033[33m", [STYLE_FAINT] = "\033[2m"};
    const bool is_coloured = terminal->has_colour && style != STYLE_PLAIN;
    if (is_coloured) text_add(page, codes[style]);
    text_add(page, words);
    if (is_coloured) text_add(page, "\033[0m");
}

int columns_of(const char *words) {
    int columns = 0;
    for (const char *c = words; *c; c++) {
        if (*c == '\033') {
            while (*c && *c != 'm') c++;
            if (!*c) break;
            continue;
        }
        if (((unsigned char)*c & 0xc0) != 0x80) columns++;
    }
    return columns;
}

void add_spaces(Text *page, int at, int to) {
    for (; at < to; at++) text_add_char(page, ' ');
}

static int new_line(Text *page, int indent) {
    text_add_char(page, '\n');
    add_spaces(page, 0, indent);
    return indent;
}

int add_wrapped(Text *page, int at, int indent, const char *words) {
    bool is_line_start = true; // no space before the first word of a line
    while (*words) {
        while (*words == ' ') words++;
        if (*words == '\n') {
            at = new_line(page, indent);
            is_line_start = true;
            words++;
            continue;
        }
        size_t length = strcspn(words, " \n");
        if (length == 0) continue;
        int columns = 0;
        for (size_t i = 0; i < length; i++) columns += ((unsigned char)words[i] & 0xc0) != 0x80;
        if (!is_line_start && at + 1 + columns > PAGE_COLUMNS) {
            at = new_line(page, indent);
            is_line_start = true;
        }
        if (!is_line_start) {
            text_add_char(page, ' ');
            at++;
        }
        // A word longer than a line, such as a path, is broken where the line ends.
        for (size_t i = 0; i < length; i++) {
            bool is_start = ((unsigned char)words[i] & 0xc0) != 0x80;
            if (is_start && at >= PAGE_COLUMNS) at = new_line(page, indent);
            text_add_char(page, words[i]);
            at += is_start;
        }
        is_line_start = false;
        words += length;
    }
    return at;
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
    fflush(stdout);
}
