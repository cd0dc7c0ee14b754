// All variants in one text.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "driver/build/kept_headers.h"
#include "driver/judge/variants/variants.h"

// An edit, with the number of its variant.
typedef struct {
    const SourceEdit *edit;
    int variant;
} Numbered;

enum { NO_UNROLLING = INT_MAX, ALWAYS = -1 }; // in place of a variant's number

typedef struct {
    const char *source; // without #pragma unroll
    Numbered *edits;    // in the order in which they are written
    int count;
    Text *text;
    VariantLines *lines;
    int at; // the byte of the source that is written
    bool failed;
} Writer;

static bool inserts(const SourceEdit *edit) {
    return edit->form == EDIT_BEFORE || edit->form == EDIT_DECLARATION;
}

int source_edits_compare(const SourceEdit *a, const SourceEdit *b) {
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    const bool a_inserts = inserts(a), b_inserts = inserts(b);
    if (a_inserts != b_inserts) return a_inserts ? -1 : 1;
    if (a->to != b->to) return a->to > b->to ? -1 : 1;
    if (a->form != b->form) return a->form > b->form ? -1 : 1;
    return 0;
}

static int compare(const void *left, const void *right) {
    const Numbered *a = left, *b = right;
    const int places = source_edits_compare(a->edit, b->edit);
    return places != 0 ? places : (a->variant > b->variant) - (a->variant < b->variant);
}

// Begins a line, which is that of a variant, so that a message of the compiler names it; -1: of none.
static void begin_line(Writer *writer, int variant) {
    VariantLines *lines = writer->lines;
    if (lines->count % 256 == 0) {
        VariantLine *grown = realloc(lines->all, ((size_t)lines->count + 256) * sizeof *grown);
        if (!grown) {
            writer->failed = true;
            return;
        }
        lines->all = grown;
    }
    lines->all[lines->count++] = (VariantLine){.variant = variant, .from = writer->at};
}

// `variant`: of the lines that begin in it.
static void write_bytes(Writer *writer, const char *bytes, size_t count, int variant) {
    text_add_bytes(writer->text, bytes, count);
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == '\n') begin_line(writer, variant);
}

static void write_source_bytes(Writer *writer, int from, int to) {
    while (from < to) {
        const char *begin = writer->source + from, *end = memchr(begin, '\n', (size_t)(to - from));
        const int behind = end ? (int)(end - writer->source) + 1 : to;
        writer->at = behind;
        write_bytes(writer, begin, (size_t)(behind - from), -1);
        from = behind;
    }
    writer->at = to;
}

static void write_words(Writer *writer, const char *words, int variant) {
    write_bytes(writer, words, strlen(words), variant);
}

static void write_range(Writer *writer, int from, int to, int first, int last);

// Whether one of the edits [first, last) is chosen. What is not costs one comparison, and one more for each
// gap in their numbers.
static void write_choice(Writer *writer, int first, int last) {
    for (int e = first; e < last;) {
        int end = e + 1;
        while (end < last && writer->edits[end].variant <= writer->edits[end - 1].variant + 1) end++;
        const int least = writer->edits[e].variant + 1, most = writer->edits[end - 1].variant + 1;
        Text words = {0};
        text_printf(&words, "%s(unsigned)(" VARIANT_CHOICE " - %d) <= %du", e > first ? " || " : "", least,
                    most - least);
        write_words(writer, text_chars(&words), -1);
        text_free(&words);
        e = end;
    }
}

// The edits [first, last) of one place, which those up to `behind` are in.
static void write_expression(Writer *writer, int first, int last, int behind) {
    const SourceEdit *edit = writer->edits[first].edit;
    write_words(writer, "((", -1);
    write_choice(writer, first, last);
    write_words(writer, ") ? (", -1);
    for (int e = first; e < last; e++) {
        const int variant = writer->edits[e].variant;
        write_words(writer, "\n", variant);
        if (e + 1 < last) text_printf(writer->text, VARIANT_CHOICE " == %d ? ", variant + 1);
        write_words(writer, "(", variant);
        write_words(writer, writer->edits[e].edit->text, variant);
        write_words(writer, e + 1 < last ? ") :" : "))", variant);
    }
    write_words(writer, "\n: (", -1);
    write_range(writer, edit->from, edit->to, last, behind);
    write_words(writer, "))", -1);
}

static void write_chosen(Writer *writer, int variant, const char *text) {
    write_words(writer, "\n", variant);
    text_printf(writer->text, "if (" VARIANT_CHOICE " == %d) { ", variant + 1);
    write_words(writer, text, variant);
    write_words(writer, " }", variant);
}

static void write_statement(Writer *writer, int first, int last, int behind) {
    const SourceEdit *edit = writer->edits[first].edit;
    write_words(writer, "{ if (", -1);
    write_choice(writer, first, last);
    write_words(writer, ") {", -1);
    for (int e = first; e < last; e++)
        write_chosen(writer, writer->edits[e].variant, writer->edits[e].edit->text);
    write_words(writer, "\n} else { ", -1);
    write_range(writer, edit->from, edit->to, last, behind);
    write_words(writer, " } }", -1);
}

static void write_before(Writer *writer, int first, int last) {
    const bool unrolls = writer->edits[last - 1].variant != NO_UNROLLING;
    const int chosen = unrolls ? last : last - 1;
    if (chosen > first) {
        write_words(writer, "\nif (", -1);
        write_choice(writer, first, chosen);
        write_words(writer, ") {", -1);
        for (int e = first; e < chosen; e++)
            write_chosen(writer, writer->edits[e].variant, writer->edits[e].edit->text);
        write_words(writer, "\n}", -1);
    }
    if (!unrolls) write_words(writer, "\n#pragma unroll 1", -1);
    write_words(writer, "\n", -1);
}

static void write_declarations(Writer *writer, int first, int last) {
    for (int e = first; e < last; e++) {
        write_words(writer, "\n", writer->edits[e].variant);
        write_words(writer, writer->edits[e].edit->text, writer->edits[e].variant);
    }
    write_words(writer, "\n", -1);
}

// The source from `from` to `to` with the edits [first, last), which are all in it.
static void write_range(Writer *writer, int from, int to, int first, int last) {
    for (int e = first; e < last;) {
        const SourceEdit *edit = writer->edits[e].edit;
        int same = e, behind;
        while (same < last && writer->edits[same].edit->from == edit->from &&
               writer->edits[same].edit->to == edit->to && writer->edits[same].edit->form == edit->form)
            same++;
        for (behind = same; behind < last && !inserts(edit) && writer->edits[behind].edit->from < edit->to;)
            behind++;
        write_source_bytes(writer, from, edit->from);
        if (writer->edits[e].variant == ALWAYS)
            write_words(writer, edit->text, -1);
        else if (edit->form == EDIT_DECLARATION)
            write_declarations(writer, e, same);
        else if (edit->form == EDIT_EXPRESSION)
            write_expression(writer, e, same, behind);
        else if (edit->form == EDIT_STATEMENT)
            write_statement(writer, e, same, behind);
        else
            write_before(writer, e, same);
        from = writer->at = edit->to;
        // What follows has lines that are not those of the edit.
        if (edit->form != EDIT_BEFORE) write_words(writer, "\n", -1);
        e = behind;
    }
    write_source_bytes(writer, from, to);
}

// A loop that is unrolled would have every variant in each of its rounds.
static char *without_unrolling(const char *source) {
    const size_t bytes = strlen(source) + 1;
    char *copy = malloc(bytes);
    if (!copy) return NULL;
    memcpy(copy, source, bytes);
    for (char *line = copy; line; line = strchr(line, '\n')) {
        char *at = line + (*line == '\n'), *const begin = at;
        at += strspn(at, " \t");
        line = begin;
        if (*at != '#') continue;
        at += 1 + strspn(at + 1, " \t");
        if (strncmp(at, "pragma", 6) != 0) continue;
        at += 6 + strspn(at + 6, " \t");
        if (strncmp(at, "unroll", 6) == 0) memset(begin, ' ', strcspn(begin, "\n"));
    }
    return copy;
}

// The text begins as kernel.cu does, so that the headers which are kept for that serve it.
static void write_source(Writer *writer) {
    const int head = (int)source_head_bytes(writer->source);
    write_source_bytes(writer, 0, head);
    write_words(writer, "\nextern \"C\" { __constant__ int " VARIANT_CHOICE "; }\n", -1);
    write_range(writer, head, (int)strlen(writer->source), 0, writer->count);
}

static bool is_unrollable(const Code *code, const Statement *statement) {
    return statement->kind == STATEMENT_LOOP && token_is_one_of(&code->tokens, statement->first, "for while");
}

void variants_write(const Code *code, const Variants *variants, const bool is_left_out[],
                    const bool is_needed[], Text *text, VariantLines *lines) {
    static char nothing[] = "{}";
    *lines = (VariantLines){0};
    Writer writer = {.source = NULL, .text = text, .lines = lines};
    char *source = without_unrolling(code->tokens.source);
    SourceEdit *loops = calloc((size_t)code->statement_count + 1, sizeof *loops);
    SourceEdit *bodies = calloc((size_t)code->function_count + 1, sizeof *bodies);
    writer.edits = calloc((size_t)variants->count * MOST_EDITS + (size_t)code->statement_count +
                              (size_t)code->function_count + 1,
                          sizeof *writer.edits);
    writer.source = source;
    writer.failed = !source || !loops || !bodies || !writer.edits;
    for (int v = 0; v < variants->count && !writer.failed; v++)
        for (int e = 0; e < variants->all[v].edit_count && !is_left_out[v]; e++)
            writer.edits[writer.count++] = (Numbered){.edit = &variants->all[v].edits[e], .variant = v};
    for (int s = 0; s < code->statement_count && !writer.failed; s++) {
        if (!is_unrollable(code, &code->statements[s])) continue;
        const int from = code->tokens.all[code->statements[s].first].from;
        loops[s] = (SourceEdit){.form = EDIT_BEFORE, .from = from, .to = from};
        writer.edits[writer.count++] = (Numbered){.edit = &loops[s], .variant = NO_UNROLLING};
    }
    for (int f = 0; f < code->function_count && !writer.failed; f++) {
        if (is_needed[f] || !code->functions[f].is_kernel) continue;
        bodies[f] = (SourceEdit){.form = EDIT_STATEMENT,
                                 .from = code->tokens.all[code->functions[f].first].from,
                                 .to = code->tokens.all[code->functions[f].last].to,
                                 .text = nothing};
        writer.edits[writer.count++] = (Numbered){.edit = &bodies[f], .variant = ALWAYS};
    }
    if (!writer.failed) {
        qsort(writer.edits, (size_t)writer.count, sizeof *writer.edits, compare);
        begin_line(&writer, -1); // no line has the number 0
        begin_line(&writer, -1);
        write_source(&writer);
    }
    if (writer.failed) {
        free(lines->all);
        *lines = (VariantLines){0};
        text->failed = true;
    }
    free(writer.edits);
    free(loops);
    free(bodies);
    free(source);
}
