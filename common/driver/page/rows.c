#include "driver/page/rows.h"

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
