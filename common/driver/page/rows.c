#include "driver/page/rows.h"

#include <string.h>

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

void add_cut(Text *page, int columns, const char *words) {
    for (int at = 0; *words; words++) {
        const bool is_start = ((unsigned char)*words & 0xc0) != 0x80;
        if (is_start && at++ >= columns) break;
        text_add_char(page, *words);
    }
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

void page_add_label(Text *page, const Terminal *terminal, Style style, const char *label) {
    text_add(page, "  ");
    add_styled(page, terminal, style, label);
    add_spaces(page, LABEL + columns_of(label), TEXT_COLUMN);
}

void page_add_words(Text *page, int at, int indent, const char *words) {
    add_wrapped(page, at, indent, words);
    text_add_char(page, '\n');
}

void page_add_row(Text *page, const Terminal *terminal, const char *label, const char *words) {
    page_add_label(page, terminal, STYLE_FAINT, label);
    page_add_words(page, TEXT_COLUMN, TEXT_COLUMN, words);
}
