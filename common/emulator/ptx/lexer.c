#include "emulator/ptx/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Interned names ---------------------------------------------------------------------------------------

// FNV-1a from a start value that differs between runs: a file cannot be written so that all its names
// land in one bucket. Nothing that the parser returns depends on the order of buckets.
static uint64_t hash_of(const NameTable *names, const char *text, size_t length) {
    uint64_t hash = names->seed;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

bool names_open(NameTable *names, Arena *arena) {
    *names = (NameTable){.arena = arena, .bucket_count = 1024};
    names->buckets = arena_array(arena, names->bucket_count, sizeof(Name *));
    names->seed = 0xcbf29ce484222325u ^ ((uint64_t)(uintptr_t)names->buckets * 0x9e3779b97f4a7c15u);
    return names->buckets != NULL;
}

static Name *find(const NameTable *names, const char *text, size_t length, uint64_t hash) {
    for (Name *name = names->buckets[hash & (names->bucket_count - 1)]; name; name = name->next)
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return name;
    return NULL;
}

Name *names_find(const NameTable *names, const char *text, size_t length) {
    return find(names, text, length, hash_of(names, text, length));
}

static void double_buckets(NameTable *names) {
    size_t larger = names->bucket_count * 2;
    Name **buckets = arena_array(names->arena, larger, sizeof(Name *));
    if (!buckets) return; // slower, still right
    for (size_t i = 0; i < names->bucket_count; i++)
        for (Name *name = names->buckets[i]; name;) {
            Name *next = name->next;
            name->next = buckets[name->hash & (larger - 1)];
            buckets[name->hash & (larger - 1)] = name;
            name = next;
        }
    names->buckets = buckets;
    names->bucket_count = larger;
}

Name *names_intern(NameTable *names, const char *text, size_t length) {
    uint64_t hash = hash_of(names, text, length);
    Name *name = find(names, text, length, hash);
    if (name) return name;
    if (names->count >= names->bucket_count) double_buckets(names);
    name = arena_alloc(names->arena, sizeof *name);
    if (!name) return NULL;
    name->text = arena_string(names->arena, text, length);
    if (!name->text) return NULL;
    name->length = length;
    name->hash = hash;
    Name **bucket = &names->buckets[hash & (names->bucket_count - 1)];
    name->next = *bucket;
    *bucket = name;
    names->count++;
    return name;
}

// ---- Characters -------------------------------------------------------------------------------------------

// Not <ctype.h>, whose answers depend on the locale.
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool starts_name(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
static bool continues_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

// ---- Errors -----------------------------------------------------------------------------------------------

__attribute__((format(printf, 4, 5))) static Token error_at(Lexer *lexer, int line, int column,
                                                            const char *format, ...) {
    if (!lexer->message[0]) {
        va_list list;
        va_start(list, format);
        vsnprintf(lexer->message, sizeof lexer->message, format, list);
        va_end(list);
        lexer->error_line = line;
        lexer->error_column = column;
    }
    lexer->at = lexer->end;
    return (Token){.kind = TOKEN_ERROR, .start = lexer->end, .line = line, .column = column};
}

static int column_of(const Lexer *lexer, const char *place) { return (int)(place - lexer->line_start) + 1; }

static Token no_memory(Lexer *lexer, const Token *token) {
    lexer->no_memory = true;
    return error_at(lexer, token->line, token->column, "out of memory");
}

static Token bad_byte(Lexer *lexer, const char *place) {
    unsigned char byte = (unsigned char)*place;
    int column = column_of(lexer, place);
    if (byte == 0) return error_at(lexer, lexer->line, column, "a NUL byte; PTX is plain ASCII text");
    if (byte < 32 || byte >= 127)
        return error_at(lexer, lexer->line, column,
                        "byte 0x%02x is not allowed here; PTX is plain ASCII text", (unsigned)byte);
    return error_at(lexer, lexer->line, column, "'%c' is not allowed here", byte);
}

// ---- Space and comments -----------------------------------------------------------------------------------

static void new_line(Lexer *lexer) {
    lexer->line++;
    lexer->line_start = lexer->at;
}

// Leaves `at` on the first byte of the next token. False after an unclosed comment or a NUL byte in one.
static bool skip_space(Lexer *lexer) {
    for (;;) {
        char c = *lexer->at;
        if (c == '\n') {
            lexer->at++;
            new_line(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if (c == '/' && lexer->at[1] == '/') {
            const char *stop = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
            const char *nul = memchr(lexer->at, 0, (size_t)((stop ? stop : lexer->end) - lexer->at));
            if (nul) return bad_byte(lexer, nul), false;
            lexer->at = stop ? stop : lexer->end;
        } else if (c == '/' && lexer->at[1] == '*') {
            int line = lexer->line, column = column_of(lexer, lexer->at);
            lexer->at += 2;
            while (!(lexer->at[0] == '*' && lexer->at[1] == '/')) {
                if (lexer->at >= lexer->end)
                    return error_at(lexer, line, column, "this comment does not end"), false;
                if (*lexer->at == 0) return bad_byte(lexer, lexer->at), false;
                if (*lexer->at++ == '\n') new_line(lexer);
            }
            lexer->at += 2;
        } else {
            return true;
        }
    }
}

// ---- Numbers ----------------------------------------------------------------------------------------------

static Token bad_number(Lexer *lexer, const Token *token, const char *why) {
    while (continues_name(*lexer->at)) lexer->at++;
    int shown = lexer->at - token->start > 40 ? 40 : (int)(lexer->at - token->start);
    return error_at(lexer, token->line, token->column, "'%.*s' is not a number: %s", shown, token->start,
                    why);
}

// 0f and 8 hexadecimal digits, 0d and 16: the bits of the value.
static Token float_bits(Lexer *lexer, Token token, int digits) {
    lexer->at += 2;
    for (int i = 0; i < digits; i++, lexer->at++) {
        if (digit_value(*lexer->at) > 15)
            return bad_number(lexer, &token,
                              digits == 8 ? "0f takes 8 hexadecimal digits"
                                          : "0d takes 16 hexadecimal digits");
        token.value = token.value << 4 | (uint64_t)digit_value(*lexer->at);
    }
    if (continues_name(*lexer->at))
        return bad_number(lexer, &token,
                          digits == 8 ? "0f takes 8 hexadecimal digits" : "0d takes 16 hexadecimal digits");
    token.kind = digits == 8 ? TOKEN_FLOAT32 : TOKEN_FLOAT64;
    return token;
}

static Token decimal_float(Lexer *lexer, Token token) {
    char copy[64];
    const char *c = token.start;
    while (is_digit(*c)) c++;
    if (*c == '.') c++;
    while (is_digit(*c)) c++;
    if (*c == 'e' || *c == 'E') {
        c++;
        if (*c == '+' || *c == '-') c++;
        if (!is_digit(*c)) {
            lexer->at = c;
            return bad_number(lexer, &token, "digits must follow the exponent's e");
        }
        while (is_digit(*c)) c++;
    }
    lexer->at = c;
    size_t length = (size_t)(c - token.start);
    if (length >= sizeof copy) return bad_number(lexer, &token, "it has more than 63 characters");
    if (continues_name(*c)) return bad_number(lexer, &token, "a letter follows it");
    memcpy(copy, token.start, length);
    copy[length] = 0;
    double value = strtod(copy, NULL);
    memcpy(&token.value, &value, sizeof value);
    token.kind = TOKEN_FLOAT64;
    return token;
}

static Token number(Lexer *lexer, Token token) {
    const char *c = token.start;
    unsigned base = 10;
    if (c[0] == '0' && (c[1] == 'f' || c[1] == 'F')) return float_bits(lexer, token, 8);
    if (c[0] == '0' && (c[1] == 'd' || c[1] == 'D')) return float_bits(lexer, token, 16);
    if (c[0] == '0' && (c[1] == 'x' || c[1] == 'X'))
        base = 16, c += 2;
    else if (c[0] == '0' && (c[1] == 'b' || c[1] == 'B'))
        base = 2, c += 2;
    if (base == 10) {
        const char *d = c;
        while (is_digit(*d)) d++;
        if ((*d == '.' && !is_letter(d[1]) && d[1] != '_') || *d == 'e' || *d == 'E')
            return decimal_float(lexer, token);
        if (c[0] == '0') base = 8; // a lone 0 too, whose value is the same
    }
    const char *first = c;
    for (; digit_value(*c) < (int)base; c++) {
        if (token.value > (UINT64_MAX - (unsigned)digit_value(*c)) / base) {
            lexer->at = c;
            return bad_number(lexer, &token, "it needs more than 64 bits");
        }
        token.value = token.value * base + (unsigned)digit_value(*c);
    }
    lexer->at = c;
    if (c == first) return bad_number(lexer, &token, "digits must follow its prefix");
    if (*c == 'U') token.is_unsigned = true, lexer->at = ++c;
    if (continues_name(*c))
        return bad_number(lexer, &token,
                          is_digit(*c) ? "it has a digit beyond its base" : "a letter follows it");
    token.kind = TOKEN_INTEGER;
    return token;
}

// ---- Strings ----------------------------------------------------------------------------------------------

// Any byte but NUL and a newline: nvcc writes the paths of .file as they are on disk, in UTF-8 too.
static Token string(Lexer *lexer, Token token) {
    const char *c = token.start + 1;
    for (; *c != '"'; c++) {
        if (c >= lexer->end || *c == '\n')
            return error_at(lexer, token.line, token.column, "this string has no closing quote on its line");
        if (*c == 0) return bad_byte(lexer, c);
        if (*c == '\\' && c[1] && c[1] != '\n') c++;
    }
    lexer->at = c + 1;
    token.kind = TOKEN_STRING;
    return token;
}

char *lexer_unescape(const Token *string, Arena *arena) {
    char *text = arena_alloc(arena, string->length);
    if (!text) return NULL;
    const char *c = string->start + 1, *end = string->start + string->length - 1;
    char *to = text;
    while (c < end) {
        if (*c != '\\') {
            *to++ = *c++;
            continue;
        }
        c++; // string() saw to it that a character follows
        if (*c >= '0' && *c <= '7') {
            int value = 0;
            for (int i = 0; i < 3 && *c >= '0' && *c <= '7'; i++) value = value * 8 + (*c++ - '0');
            if (value > 0 && value < 256) *to++ = (char)(unsigned char)value;
            continue;
        }
        *to++ = *c == 'n' ? '\n' : *c == 't' ? '\t' : *c == 'r' ? '\r' : *c;
        c++;
    }
    return text; // arena memory is zero: the terminator is there
}

// ---- Punctuation ------------------------------------------------------------------------------------------

static Token punctuation(Lexer *lexer, Token token) {
    static const struct {
        char first, second;
        int code;
    } pairs[] = {
        {'<', '<', PUNCTUATION_SHIFT_LEFT}, {'>', '>', PUNCTUATION_SHIFT_RIGHT},
        {'<', '=', PUNCTUATION_AT_MOST},    {'>', '=', PUNCTUATION_AT_LEAST},
        {'=', '=', PUNCTUATION_EQUAL},      {'!', '=', PUNCTUATION_UNEQUAL},
        {'&', '&', PUNCTUATION_BOTH},       {'|', '|', PUNCTUATION_EITHER},
    };
    token.kind = TOKEN_PUNCTUATION;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (lexer->at[0] == pairs[i].first && lexer->at[1] == pairs[i].second) {
            token.punctuation = pairs[i].code;
            lexer->at += 2;
            return token;
        }
    static const char known[] = "{}()[]<>,;:@!+-*/%&|^~?=";
    if (!*lexer->at || !strchr(known, *lexer->at)) return bad_byte(lexer, lexer->at);
    token.punctuation = (unsigned char)*lexer->at++;
    return token;
}

// ---- The lexer --------------------------------------------------------------------------------------------

void lexer_open(Lexer *lexer, NameTable *names, const char *text, size_t bytes) {
    *lexer = (Lexer){.names = names, .at = text, .end = text + bytes, .line_start = text, .line = 1};
}

static Token interned(Lexer *lexer, Token token, TokenKind kind, const char *from) {
    token.kind = kind;
    token.name = names_intern(lexer->names, from, (size_t)(lexer->at - from));
    return token.name ? token : no_memory(lexer, &token);
}

static Token read_token(Lexer *lexer) {
    if (lexer->message[0] || !skip_space(lexer))
        return (Token){.kind = TOKEN_ERROR,
                       .start = lexer->end,
                       .line = lexer->error_line,
                       .column = lexer->error_column};
    const char *start = lexer->at;
    Token token = {.kind = TOKEN_END, .start = start, .line = lexer->line, .column = column_of(lexer, start)};
    if (start >= lexer->end) return token;

    if (starts_name(*start) && (*start != '%' || continues_name(start[1]))) {
        do lexer->at++;
        while (continues_name(*lexer->at));
        return interned(lexer, token, TOKEN_NAME, start);
    }
    if (is_digit(*start)) return number(lexer, token);
    if (*start == '.') {
        lexer->at++;
        for (;;) {
            if (continues_name(*lexer->at))
                lexer->at++;
            else if (lexer->at[0] == ':' && lexer->at[1] == ':' && continues_name(lexer->at[2]))
                lexer->at += 2;
            else
                break;
        }
        if (lexer->at == start + 1)
            return error_at(lexer, token.line, token.column, "a word must follow the dot");
        return interned(lexer, token, TOKEN_DOTTED, start + 1);
    }
    if (*start == '"') return string(lexer, token);
    return punctuation(lexer, token);
}

Token lexer_next(Lexer *lexer) {
    Token token = read_token(lexer);
    token.length = (size_t)(lexer->at - token.start);
    return token;
}
