// A string that grows. Adding never fails at the place of the call: when memory runs out the text stays as
// it was, `failed` stays set, and the user of the text checks it once, at the end.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *data;   // NUL terminated once anything was added; NULL before
    size_t bytes; // without the NUL
    size_t capacity;
    bool failed; // memory ran out at some addition
} Text;          // all zero is an empty text: `Text text = {0};`

// The characters, NUL terminated; "" for an empty text. Valid until the next addition.
const char *text_chars(const Text *text);
void text_add(Text *text, const char *string);
void text_add_bytes(Text *text, const void *bytes, size_t count);
void text_add_char(Text *text, char character);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(Text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
// Adds bytes that somebody else wrote so that they are safe on a terminal: control characters (but newline
// and tab) become \x1b and the like, and so do bytes that are not UTF-8 and the invisible characters that
// change the direction of writing. Carriage returns before a newline are dropped.
void text_add_printable(Text *text, const char *bytes, size_t count);
// Cuts the text to at most `bytes`.
void text_cut(Text *text, size_t bytes);
// Hands over the characters, to be released with free(); the text is empty afterwards. NULL when it failed.
char *text_take(Text *text);
void text_free(Text *text);

bool starts_with(const char *text, const char *prefix);

// The length in bytes of the well-formed UTF-8 character at `bytes` (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF), and its code point in `code` where that is not NULL; 0 when malformed.
size_t utf8_character(const char *bytes, size_t count, unsigned *code);
