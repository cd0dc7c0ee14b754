#include "driver/diagnose/stripped_source.h"

#include <ctype.h>
#include <string.h>

// ---- From the file ----------------------------------------------------------------------------------------

void stripped_text(const char *text, Text *stripped) {
    enum { CODE, LINE_COMMENT, BLOCK_COMMENT, STRING } state = CODE;
    for (const char *at = text; *at; at++) {
        if (state == CODE && at[0] == '/' && at[1] == '/') state = LINE_COMMENT;
        if (state == CODE && at[0] == '/' && at[1] == '*') {
            state = BLOCK_COMMENT;
            at += 2; // the end may follow immediately
            if (!*at) break;
        }
        if (*at == '\n') {
            if (state == LINE_COMMENT || state == STRING) state = CODE;
            text_add_char(stripped, '\n');
        } else if (state == BLOCK_COMMENT) {
            if (at[0] == '*' && at[1] == '/') {
                state = CODE;
                at++;
            }
        } else if (state == STRING) {
            text_add_char(stripped, *at);
            if (at[0] == '\\' && at[1] && at[1] != '\n')
                text_add_char(stripped, *++at);
            else if (*at == '"')
                state = CODE;
        } else if (state == CODE && !isspace((unsigned char)*at)) {
            text_add_char(stripped, *at);
            if (*at == '"') state = STRING;
        }
    }
}

static const char *start_of_line(const Text *text, int line) {
    const char *at = text_chars(text);
    for (int i = 1; i < line && at; i++) {
        at = strchr(at, '\n');
        if (at) at++;
    }
    return line > 0 ? at : NULL;
}

void stripped_line(const Text *text, int line, Text *picked) {
    const char *at = start_of_line(text, line);
    if (at) text_add_bytes(picked, at, strcspn(at, "\n"));
}

void stripped_without_line(const Text *text, int line, Text *rest) {
    const char *all = text_chars(text), *at = start_of_line(text, line);
    if (!at) at = all + strlen(all);
    text_add_bytes(rest, all, (size_t)(at - all));
    at += strcspn(at, "\n");
    text_add_bytes(rest, at, strlen(at));
}

void stripped_join_lines(Text *text) {
    Text joined = {0};
    for (const char *at = text_chars(text); *at; at++)
        if (*at != '\n') text_add_char(&joined, *at);
    text_free(text);
    *text = joined;
}

// ---- Loops ------------------------------------------------------------------------------------------------

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip_newlines(const char *at) { return at + strspn(at, "\n"); }

// The position after the string or the pair of brackets that begins at `at`.
static const char *behind(const char *at, char open, char close) {
    int depth = 0;
    for (; *at; at++) {
        if (*at == '"') {
            for (at++; *at && *at != '"'; at++) at += *at == '\\' && at[1];
            if (!*at) return at;
        }
        depth += (*at == open) - (*at == close);
        if (depth == 0) return at + 1;
    }
    return at;
}

// The position after the statement that begins at `at`: a block, or everything up to its semicolon.
static const char *behind_statement(const char *at) {
    at = skip_newlines(at);
    if (*at == '{') return behind(at, '{', '}');
    while (*at && *at != ';' && *at != '}') {
        if (*at == '{') return behind(at, '{', '}');
        at = *at == '(' ? behind(at, '(', ')') : *at == '"' ? behind(at, '"', '"') : at + 1;
    }
    return *at == ';' ? at + 1 : at;
}

// Whether a loop's head begins at `at`, and where its body begins.
static const char *body_of_loop(const char *text, const char *at) {
    if (at > text && is_name(at[-1])) return NULL;
    if (strncmp(at, "for(", 4) == 0) return behind(at + 3, '(', ')');
    if (strncmp(at, "while(", 6) == 0) return behind(at + 5, '(', ')');
    return strncmp(at, "do{", 3) == 0 ? at + 2 : NULL;
}

static bool has_word(const char *from, const char *to, const char *word) {
    const char *found = strstr(from, word);
    return found && found < to;
}

static bool has_barrier(const char *from, const char *to) {
    static const char *const barriers[] = {"__syncthreads(", "__syncthreads_", ".sync(", "bar.sync",
                                           "barrier"};
    for (size_t b = 0; b < sizeof barriers / sizeof barriers[0]; b++)
        if (has_word(from, to, barriers[b])) return true;
    return false;
}

// Whether a do loop ends with the `while` at `at`.
static bool ends_do(const char *text, const char *at) {
    int depth = 0;
    while (at > text && at[-1] == '\n') at--;
    if (at == text || at[-1] != '}') return false;
    do {
        at--;
        depth += (*at == '}') - (*at == '{');
    } while (at > text && depth > 0);
    return at >= text + 2 && strncmp(at - 2, "do", 2) == 0;
}

// Whether a loop without a body waits until memory has changed. A loop that takes a lock changes it itself.
static bool waits_for_a_flag(const char *text, const char *from, const char *to) {
    for (const char *at = from; (at = strstr(at, "while(")) && at < to; at++) {
        const char *head = at + 5, *body = behind(head, '(', ')'), *inside = skip_newlines(body);
        const bool is_empty = *inside == ';' || (*inside == '{' && *skip_newlines(inside + 1) == '}');
        const bool is_lock = has_word(head, body, "CAS(") || has_word(head, body, "Exch(");
        if (is_empty && !is_lock && !ends_do(text, at)) return true;
    }
    return false;
}

Surroundings stripped_surroundings(const Text *text, int line, int other) {
    Surroundings surroundings = {0};
    const int upper = line < other ? line : other, lower = line < other ? other : line;
    const char *first = start_of_line(text, upper), *last = start_of_line(text, lower);
    if (!first || !last) return surroundings;
    surroundings.barrier_between = upper < lower && has_barrier(first, last);
    surroundings.has_warp_barrier = upper < lower && has_word(first, last, "__syncwarp(");
    surroundings.has_fence = upper < lower && has_word(first, last, "__threadfence");
    surroundings.waits_between = upper < lower && waits_for_a_flag(text_chars(text), first, last);
    const char *end_of_last = last + strcspn(last, "\n");
    for (const char *at = text_chars(text); *at && at < end_of_last; at++) {
        const char *body = body_of_loop(text_chars(text), at);
        if (!body) continue;
        const char *end = behind_statement(body);
        if (body > first + strcspn(first, "\n") || end <= last) continue;
        surroundings.in_loop = true;
        if (has_barrier(body, end)) surroundings.loop_has_barrier = true;
        if (has_word(body, end, "__syncwarp(")) surroundings.has_warp_barrier = true;
        if (has_word(body, end, "__threadfence")) surroundings.has_fence = true;
        surroundings.way_back_is_open =
            surroundings.barrier_between && !has_barrier(body, first) && !has_barrier(end_of_last, end);
    }
    return surroundings;
}

int stripped_loop(const Text *text, int line, Text *head) {
    const char *all = text_chars(text), *first = start_of_line(text, line), *innermost = NULL;
    if (!first) return 0;
    const char *end_of_line = first + strcspn(first, "\n");
    for (const char *at = all; *at && at < end_of_line; at++) {
        const char *body = body_of_loop(all, at);
        if (body && body <= end_of_line && behind_statement(body) > first) innermost = at;
    }
    if (!innermost) return 0;
    const char *from = innermost, *to = body_of_loop(all, innermost);
    const char *after = skip_newlines(behind_statement(to));
    if (*from == 'd' && strncmp(after, "while(", 6) == 0) { // a do loop tests after its body
        from = after;
        to = behind(after + 5, '(', ')');
    }
    for (; from < to; from++)
        if (*from != '\n') text_add_char(head, *from);
    int number = 1;
    for (const char *at = all; at < innermost; at++) number += *at == '\n';
    return number;
}
