// PTX text to tokens.
//
// Names and dotted words are interned: the same spelling is the same Name, so the parser compares
// pointers and finds what a name stands for in one step (names.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/arena.h"

// ---- Interned names ---------------------------------------------------------------------------------------

typedef struct Binding Binding; // what a name stands for: parser.h
typedef struct NameRange NameRange;

typedef struct Name Name;
struct Name {
    const char *text; // NUL terminated
    size_t length;
    uint64_t hash;
    Name *next;       // in the bucket
    Binding *binding; // the innermost one in force, or NULL
    NameRange *range; // the last .reg range with this prefix, for messages
    bool is_special;  // %tid and its like
};

typedef struct {
    Arena *arena;
    Name **buckets;
    size_t bucket_count; // a power of two
    size_t count;
    uint64_t seed;
} NameTable;

// Returns false when memory runs out.
bool names_open(NameTable *names, Arena *arena);
// The one Name of that spelling, made where it is new; NULL when memory runs out.
Name *names_intern(NameTable *names, const char *text, size_t length);
// The Name of that spelling, or NULL where none was interned.
Name *names_find(const NameTable *names, const char *text, size_t length);

// ---- Tokens -----------------------------------------------------------------------------------------------

typedef enum {
    TOKEN_END,
    TOKEN_ERROR,       // Lexer.message says why; every later token is an error too
    TOKEN_NAME,        // ld  %r1  $L__BB0_2  _
    TOKEN_DOTTED,      // .global  .L2::128B; `name` is without the dot
    TOKEN_INTEGER,     // `value`, `is_unsigned`
    TOKEN_FLOAT32,     // 0f3F800000: bits in `value`
    TOKEN_FLOAT64,     // 0d..., 1.5: bits in `value`
    TOKEN_STRING,      // `start` and `length` include the quotes
    TOKEN_PUNCTUATION, // `punctuation`: the character, or one of those below
} TokenKind;

enum {
    PUNCTUATION_SHIFT_LEFT = 256, // <<
    PUNCTUATION_SHIFT_RIGHT,      // >>
    PUNCTUATION_AT_MOST,          // <=
    PUNCTUATION_AT_LEAST,         // >=
    PUNCTUATION_EQUAL,            // ==
    PUNCTUATION_UNEQUAL,          // !=
    PUNCTUATION_BOTH,             // &&
    PUNCTUATION_EITHER,           // ||
};

typedef struct {
    TokenKind kind;
    int punctuation;
    const char *start; // in the text
    size_t length;
    int line, column; // from 1; columns count bytes
    Name *name;
    uint64_t value;
    bool is_unsigned; // a U suffix
} Token;

typedef struct {
    NameTable *names;
    const char *at;  // next byte to read
    const char *end; // *end is NUL
    const char *line_start;
    int line;
    char message[160]; // of the first error; "" for none
    int error_line, error_column;
    bool no_memory; // the error is that memory ran out
} Lexer;

// `text` has `bytes` bytes, fewer than INT_MAX, and a NUL after them.
void lexer_open(Lexer *lexer, NameTable *names, const char *text, size_t bytes);
// The next token; TOKEN_END at the end, again and again.
Token lexer_next(Lexer *lexer);
// The text of a TOKEN_STRING without quotes and escapes; NULL when memory runs out.
char *lexer_unescape(const Token *string, Arena *arena);
