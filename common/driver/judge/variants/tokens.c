#include "driver/judge/variants/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "driver/judge/repair/words.h"

typedef struct {
    Tokens *tokens;
    int at, line, capacity;
    bool begins_line, failed;
} Lexer;

static void add(Lexer *lexer, TokenKind kind, int to) {
    Tokens *tokens = lexer->tokens;
    if (tokens->count == lexer->capacity) {
        const int capacity = lexer->capacity ? 2 * lexer->capacity : 512;
        Token *grown = realloc(tokens->all, (size_t)capacity * sizeof *grown);
        if (!grown) {
            lexer->failed = true;
            return;
        }
        tokens->all = grown;
        lexer->capacity = capacity;
    }
    tokens->all[tokens->count++] =
        (Token){.kind = kind, .from = lexer->at, .to = to, .line = lexer->line, .partner = -1};
}

static void go_to(Lexer *lexer, int to) {
    for (; lexer->at < to; lexer->at++) lexer->line += lexer->tokens->source[lexer->at] == '\n';
}

static bool skip_comment(Lexer *lexer) {
    const char *source = lexer->tokens->source, *at = source + lexer->at;
    if (at[0] != '/' || (at[1] != '/' && at[1] != '*')) return false;
    const char *end = at[1] == '/' ? strchr(at, '\n') : strstr(at + 2, "*/");
    go_to(lexer, end ? (int)(end - source) + (at[1] == '/' ? 0 : 2) : (int)strlen(source));
    return true;
}

// A directive ends with its line, which a backslash carries on.
static void skip_directive(Lexer *lexer) {
    const char *source = lexer->tokens->source;
    int end = lexer->at;
    while (source[end] && (source[end] != '\n' || source[end - 1] == '\\')) end++;
    go_to(lexer, end);
}

static int end_of_text(const char *source, int at) {
    const char quote = source[at++];
    while (source[at] && source[at] != quote && source[at] != '\n') at += source[at] == '\\' ? 2 : 1;
    return source[at] == quote ? at + 1 : at;
}

static int end_of_number(const char *source, int at, bool *is_float) {
    const bool is_hex = source[at] == '0' && (source[at + 1] == 'x' || source[at + 1] == 'X');
    *is_float = false;
    for (;; at++) {
        const char c = source[at];
        if (c == '.') *is_float = true;
        if (!is_hex && (c == 'e' || c == 'E')) {
            *is_float = true;
            if (source[at + 1] == '-' || source[at + 1] == '+') at++;
        }
        if (!is_word(c) && c != '.' && c != '\'') return at;
    }
}

static int end_of_sign(const char *source, int at) {
    static const char *const signs[] = {"<<=", ">>=", "...", "::", "->", "++", "--", "<<",
                                        ">>",  "<=",  ">=",  "==", "!=", "&&", "||", "+=",
                                        "-=",  "*=",  "/=",  "%=", "&=", "|=", "^="};
    for (size_t s = 0; s < sizeof signs / sizeof signs[0]; s++)
        if (strncmp(source + at, signs[s], strlen(signs[s])) == 0) return at + (int)strlen(signs[s]);
    return at + 1;
}

static void read_one(Lexer *lexer) {
    const char *source = lexer->tokens->source;
    const char c = source[lexer->at];
    int end;
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)source[lexer->at + 1]))) {
        bool is_float;
        end = end_of_number(source, lexer->at, &is_float);
        add(lexer, is_float ? TOKEN_FLOAT : TOKEN_INTEGER, end);
    } else if (is_word(c)) {
        for (end = lexer->at; is_word(source[end]);) end++;
        add(lexer, TOKEN_NAME, end);
    } else if (c == '"' || c == '\'') {
        end = end_of_text(source, lexer->at);
        add(lexer, TOKEN_TEXT, end);
    } else {
        end = end_of_sign(source, lexer->at);
        add(lexer, TOKEN_SIGN, end);
    }
    go_to(lexer, end);
}

// ---- Brackets --------------------------------------------------------------------------------------------

static void pair_brackets(Tokens *tokens) {
    enum { DEEPEST = 256 };
    int open[DEEPEST], depth = 0;
    for (int i = 0; i < tokens->count; i++) {
        if (token_is_one_of(tokens, i, "( [ {") && depth < DEEPEST) open[depth++] = i;
        if (!token_is_one_of(tokens, i, ") ] }") || depth == 0) continue;
        tokens->all[i].partner = open[--depth];
        tokens->all[open[depth]].partner = i;
    }
}

// The > of template arguments that begin with the < at `at`; -1: it compares. Arguments are types, names and
// numbers, directly after a name, and a call, a name or a type follows them.
static int end_of_template(const Tokens *tokens, int at) {
    const Token *all = tokens->all;
    if (at == 0 || !token_is(tokens, at, "<") || all[at - 1].kind != TOKEN_NAME ||
        all[at - 1].to != all[at].from)
        return -1;
    int depth = 0;
    for (int i = at; i < tokens->count && all[i].line == all[at].line; i++) {
        if (token_is_one_of(tokens, i, "; { } && || = + - / % [ ]")) return -1;
        if (token_is(tokens, i, "<")) depth++;
        if (token_is(tokens, i, ">")) depth--;
        if (token_is(tokens, i, ">>")) depth -= 2;
        if (depth > 0) continue;
        const bool is_followed = token_is_one_of(tokens, i + 1, "( :: * & > ,") ||
                                 (i + 1 < tokens->count && all[i + 1].kind == TOKEN_NAME);
        return is_followed ? i : -1;
    }
    return -1;
}

static void mark_templates(Tokens *tokens) {
    for (int i = 0; i < tokens->count; i++) {
        const int end = end_of_template(tokens, i);
        for (int k = i; k <= end; k++) tokens->all[k].is_type = true;
        if (end > i) i = end;
    }
}

bool tokens_make(const char *source, Tokens *tokens) {
    *tokens = (Tokens){.source = source};
    Lexer lexer = {.tokens = tokens, .line = 1, .begins_line = true};
    while (source[lexer.at] && !lexer.failed) {
        const char c = source[lexer.at];
        if (isspace((unsigned char)c)) {
            lexer.begins_line |= c == '\n';
            go_to(&lexer, lexer.at + 1);
        } else if (lexer.begins_line && c == '#') {
            skip_directive(&lexer);
        } else if (!skip_comment(&lexer)) {
            lexer.begins_line = false;
            read_one(&lexer);
        }
    }
    if (lexer.failed) return false;
    pair_brackets(tokens);
    mark_templates(tokens);
    return true;
}

void tokens_free(Tokens *tokens) {
    free(tokens->all);
    *tokens = (Tokens){0};
}

// ---- Words and signs -------------------------------------------------------------------------------------

static bool is_text(const Tokens *tokens, int at, const char *text, size_t length) {
    const Token *token = &tokens->all[at];
    return (size_t)(token->to - token->from) == length &&
           strncmp(tokens->source + token->from, text, length) == 0;
}

bool token_is(const Tokens *tokens, int at, const char *text) {
    return at >= 0 && at < tokens->count && is_text(tokens, at, text, strlen(text));
}

bool token_is_one_of(const Tokens *tokens, int at, const char *texts) {
    if (at < 0 || at >= tokens->count) return false;
    for (const char *from = texts; *from; from += *from == ' ') {
        const size_t length = strcspn(from, " ");
        if (is_text(tokens, at, from, length)) return true;
        from += length;
    }
    return false;
}

bool tokens_are_same(const Tokens *tokens, int a, int b) {
    const Token *token = &tokens->all[b];
    return is_text(tokens, a, tokens->source + token->from, (size_t)(token->to - token->from));
}
