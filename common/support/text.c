#include "support/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *text_chars(const Text *text) { return text->data ? text->data : ""; }

// Makes room for `more` bytes and a NUL.
static bool reserve(Text *text, size_t more) {
    if (text->failed) return false;
    if (more >= SIZE_MAX / 2 - text->bytes) {
        text->failed = true;
        return false;
    }
    size_t needed = text->bytes + more + 1;
    if (needed <= text->capacity) return true;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < needed) capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_add_bytes(Text *text, const void *bytes, size_t count) {
    if (!reserve(text, count)) return;
    if (count) memcpy(text->data + text->bytes, bytes, count);
    text->bytes += count;
    text->data[text->bytes] = '\0';
}

void text_add(Text *text, const char *string) { text_add_bytes(text, string, strlen(string)); }

void text_add_char(Text *text, char character) { text_add_bytes(text, &character, 1); }

void text_vprintf(Text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->bytes, (size_t)length + 1, format, again);
        text->bytes += (size_t)length;
    }
    va_end(again);
}

void text_printf(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
}

void text_cut(Text *text, size_t bytes) {
    if (bytes >= text->bytes) return;
    text->bytes = bytes;
    text->data[bytes] = '\0';
}

char *text_take(Text *text) {
    if (!text->failed && !text->data) text_add(text, "");
    char *data = text->data;
    if (text->failed) {
        free(data);
        data = NULL;
    }
    *text = (Text){0};
    return data;
}

void text_free(Text *text) {
    free(text->data);
    *text = (Text){0};
}

size_t utf8_character(const char *bytes, size_t count, unsigned *code) {
    if (count == 0) return 0;
    const unsigned char *b = (const unsigned char *)bytes;
    size_t length = 0;
    unsigned value = 0, least = 0;
    if (b[0] < 0x80) {
        length = 1;
        value = b[0];
    } else if ((b[0] & 0xe0) == 0xc0) {
        length = 2;
        value = b[0] & 0x1fu;
        least = 0x80;
    } else if ((b[0] & 0xf0) == 0xe0) {
        length = 3;
        value = b[0] & 0x0fu;
        least = 0x800;
    } else if ((b[0] & 0xf8) == 0xf0) {
        length = 4;
        value = b[0] & 0x07u;
        least = 0x10000;
    } else {
        return 0;
    }
    if (length > count) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (b[i] & 0x3fu);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    if (code) *code = value;
    return length;
}

// Characters that a terminal acts upon, or that let a line read otherwise than it is written.
static bool is_invisible(unsigned code) {
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code <= 0x9f) ||
           code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

void text_add_printable(Text *text, const char *bytes, size_t count) {
    for (size_t i = 0; i < count;) {
        unsigned code = 0;
        size_t length = utf8_character(bytes + i, count - i, &code);
        if (length == 0) {
            text_printf(text, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
            i++;
            continue;
        }
        if (code == '\r' && i + 1 < count && bytes[i + 1] == '\n') {
            // A line end of Windows' kind is a line end.
        } else if (!is_invisible(code)) {
            text_add_bytes(text, bytes + i, length);
        } else if (code <= 0xff) {
            text_printf(text, "\\x%02x", code);
        } else {
            text_printf(text, "\\u%04x", code);
        }
        i += length;
    }
}

bool starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }
