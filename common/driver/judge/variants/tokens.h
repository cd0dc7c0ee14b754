// The words and signs of kernel.cu, without comments and directives.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum { TOKEN_NAME, TOKEN_INTEGER, TOKEN_FLOAT, TOKEN_SIGN, TOKEN_TEXT } TokenKind;

typedef struct {
    TokenKind kind;
    int from, to; // bytes of the source: [from, to)
    int line;     // from 1 on
    int partner;  // of a bracket, the token that closes or opens it; -1: none
    bool is_type; // between the < and > of a template's arguments, with both
} Token;

typedef struct {
    const char *source;
    Token *all;
    int count;
} Tokens;

// `source` must outlive it. False when memory runs out; free in any case.
bool tokens_make(const char *source, Tokens *tokens);
void tokens_free(Tokens *tokens);

// Whether the token at `at`, which may be outside of all, is this word or sign.
bool token_is(const Tokens *tokens, int at, const char *text);
// Whether it is one of those, as in "if for while".
bool token_is_one_of(const Tokens *tokens, int at, const char *texts);
bool tokens_are_same(const Tokens *tokens, int a, int b);
