#include "driver/listing/listing_page.h"

#include <stdio.h>
#include <string.h>

#include "driver/listing/meanings.h"
#include "driver/page/rows.h"
#include "driver/page/source_lines.h"
#include "support/mangle.h"

enum {
    PLACE_COLUMNS = 5,
    INSTRUCTION_AT = 6,
    LEAST_INSTRUCTION = 33,
    MOST_INSTRUCTION = 70,
    MEANING_COLUMNS = 39
};

// The instruction, and its meaning beside it, or below where they do not fit.
static void add_instruction(Text *page, const Terminal *terminal, const ListedInstruction *one) {
    char place[16];
    snprintf(place, sizeof place, one->is_machine ? "%04x" : "ptx", (unsigned)one->place);
    Text row = {0}, meaning = {0};
    (one->is_machine ? meaning_of_machine_code : meaning_of_ptx)(one->text, &meaning);
    text_printf(&row, "%*s ", PLACE_COLUMNS, place);
    add_styled(page, terminal, STYLE_FAINT, text_chars(&row));
    Text safe = {0};
    text_add_printable(&safe, one->text, strlen(one->text));
    int wide = terminal->columns - MEANING_COLUMNS - INSTRUCTION_AT - 1;
    wide = wide < LEAST_INSTRUCTION ? LEAST_INSTRUCTION : wide > MOST_INSTRUCTION ? MOST_INSTRUCTION : wide;
    const int columns = columns_of(text_chars(&safe)), meaning_at = INSTRUCTION_AT + wide + 1;
    text_add(page, text_chars(&safe));
    if (meaning.bytes > 0) {
        int at = INSTRUCTION_AT + columns;
        if (at >= meaning_at) {
            text_add_char(page, '\n');
            at = 0;
        }
        add_spaces(page, at, meaning_at);
        add_styled(page, terminal, STYLE_FAINT, text_chars(&meaning));
    }
    text_add_char(page, '\n');
    text_free(&safe);
    text_free(&row);
    text_free(&meaning);
}

static void add_source(Text *page, const Terminal *terminal, const Text *source, int line) {
    Text words = {0}, row = {0};
    if (line == 0)
        text_add(&row, "    of no line of this file: code of a header, or of the compiler");
    else
        text_printf(&row, "%4d  %s", line,
                    source->bytes > 0 && source_pick(source, line, &words) ? text_chars(&words) : "");
    Text cut = {0};
    add_cut(&cut, terminal->columns, text_chars(&row));
    while (cut.bytes > 0 && cut.data[cut.bytes - 1] == ' ') text_cut(&cut, cut.bytes - 1);
    add_styled(page, terminal, STYLE_STRONG, text_chars(&cut));
    text_add_char(page, '\n');
    text_free(&cut);
    text_free(&row);
    text_free(&words);
}

void listing_add_page(Text *page, const Terminal *terminal, const Listing *listing, const char *source_text) {
    Text source = {0};
    if (source_text) text_add(&source, source_text);
    int function = -1, line = -1, file = -1;
    for (int i = 0; i < listing->instruction_count; i++) {
        const ListedInstruction *one = &listing->instructions[i];
        if (one->function != function) {
            char name[256];
            function = one->function;
            line = -1;
            symbol_source_name(listing->functions[function], name, sizeof name);
            text_printf(page, "\n  %s\n", name);
        }
        if (one->line != line || one->file != file) {
            line = one->line;
            file = one->file;
            add_source(page, terminal, &source, line);
        }
        add_instruction(page, terminal, one);
    }
    text_free(&source);
}
