// What every part of the parser uses: the first error, the next token, memory of the module.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emulator/ptx/parser.h"

// ---- Errors -----------------------------------------------------------------------------------------------

bool parser_fail_at(Parser *p, EmulatorStatus status, int line, int column, const char *format, ...) {
    if (p->failed) return false; // what follows from the first error is not reported
    p->failed = true;
    p->token.kind = TOKEN_ERROR;
    va_list list;
    va_start(list, format);
    vsnprintf(p->message, sizeof p->message, format, list);
    va_end(list);
    ptx_error_at(p->error, status, p->module, p->name, line, column, "%s", p->message);
    return false;
}

bool parser_no_memory(Parser *p) {
    if (!p->arena->was_limited)
        return parser_fail_at(p, EMULATOR_NO_MEMORY, p->token.line, p->token.column,
                              "not enough memory to read the rest of this text");
    return parser_fail_at(p, EMULATOR_TOO_LARGE, p->token.line, p->token.column,
                          "this text and the values of its variables take more than %d MiB",
                          MAX_PARSER_MEMORY >> 20);
}

bool parser_expected(Parser *p, const char *wanted) {
    const Token *token = &p->token;
    if (token->kind == TOKEN_END)
        return parser_fail(p, token, "expected %s, found the end of the text", wanted);
    if (token->kind == TOKEN_STRING) return parser_fail(p, token, "expected %s, found a string", wanted);
    int shown = token->length > 40 ? 40 : (int)token->length;
    return parser_fail(p, token, "expected %s, found '%.*s'", wanted, shown, token->start);
}

// ---- Tokens -----------------------------------------------------------------------------------------------

void parser_advance(Parser *p) {
    if (p->failed) return;
    p->token = lexer_next(&p->lexer);
    if (p->token.kind != TOKEN_ERROR) return;
    if (p->lexer.no_memory)
        parser_no_memory(p);
    else
        parser_fail_at(p, EMULATOR_BAD_PTX, p->lexer.error_line, p->lexer.error_column, "%s",
                       p->lexer.message);
}

Token parser_peek(const Parser *p) {
    Lexer ahead = p->lexer;
    return lexer_next(&ahead);
}

bool parser_at(const Parser *p, int punctuation) {
    return p->token.kind == TOKEN_PUNCTUATION && p->token.punctuation == punctuation;
}

bool parser_accept(Parser *p, int punctuation) {
    if (!parser_at(p, punctuation)) return false;
    parser_advance(p);
    return true;
}

bool parser_expect(Parser *p, int punctuation, const char *where) {
    char wanted[120];
    if (parser_accept(p, punctuation)) return !p->failed;
    snprintf(wanted, sizeof wanted, "'%c' %s", punctuation, where);
    return parser_expected(p, wanted);
}

bool parser_at_dotted(const Parser *p, const char *word) {
    return p->token.kind == TOKEN_DOTTED && strcmp(p->token.name->text, word) == 0;
}

bool parser_number(Parser *p, int *number, const char *what) {
    if (p->token.kind != TOKEN_INTEGER) return parser_expected(p, what);
    if (p->token.value > INT_MAX) return parser_fail(p, &p->token, "a number beyond 2147483647");
    *number = (int)p->token.value;
    parser_advance(p);
    return !p->failed;
}

// ---- Memory -----------------------------------------------------------------------------------------------

void *parser_alloc(Parser *p, size_t count, size_t size) {
    void *memory = arena_array(p->arena, count, size);
    if (!memory) parser_no_memory(p);
    return memory;
}

void *parser_append(Parser *p, List *list, size_t size) {
    // Counts are ints in ptx.h.
    void *items = list->count < INT_MAX / 2
                      ? arena_grow(p->arena, list->items, &list->capacity, list->count + 1, size)
                      : NULL;
    if (!items) return parser_no_memory(p), NULL;
    list->items = items;
    void *item = (char *)items + list->count++ * size;
    memset(item, 0, size); // a list that was emptied is filled again
    return item;
}

void *parser_copy(Parser *p, const void *items, size_t count, size_t size) {
    if (!count) return NULL;
    void *copy = parser_alloc(p, count, size);
    if (copy) memcpy(copy, items, count * size);
    return copy;
}
