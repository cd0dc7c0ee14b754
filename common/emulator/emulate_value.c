#define _GNU_SOURCE // strdup
#include "emulator/emulate_value.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "emulator/alu/float_lanes.h"

// Room for `count` bytes more at a multiple of `align`; NULL: too many.
static unsigned char *append(Value *v, size_t count, size_t align) {
    const size_t start = (v->count + align - 1) / align * align;
    if (start + count > MAX_VALUE_BYTES) return NULL;
    unsigned char *grown = realloc(v->bytes, start + count + 1);
    if (!grown) return NULL;
    v->bytes = grown;
    memset(grown + v->count, 0, start + count - v->count);
    v->count = start + count;
    if (align > v->align) v->align = align;
    return grown + start;
}

static bool read_integer(const char *text, bool is_signed, unsigned bits, uint64_t *value) {
    char *end;
    errno = 0;
    if (is_signed) {
        const long long read = strtoll(text, &end, 0);
        *value = (uint64_t)read;
        if (bits < 64 && (read < -(1LL << (bits - 1)) || read >= 1LL << (bits - 1))) return false;
    } else {
        if (*text == '-') return false;
        *value = strtoull(text, &end, 0);
        if (bits < 64 && *value >> bits) return false;
    }
    return !errno && !*end;
}

static bool read_float(const char *text, const char *type, uint64_t *value) {
    char *end;
    const double x = strtod(text, &end);
    if (!strcmp(type, "f64"))
        *value = double_bits(x);
    else if (!strcmp(type, "f32"))
        *value = float_bits((float)x);
    else if (!strcmp(type, "f16"))
        *value = rounded_double(x, FORMAT_F16, ROUND_NEAREST, NAN_HALF);
    else
        *value = rounded_double(x, FORMAT_BF16, ROUND_NEAREST, NAN_HALF);
    return !*end;
}

// One number of a type such as "u16".
static bool read_number(const char *type, const char *text, Value *v) {
    const bool is_float = strchr(type, 'f') != NULL;
    const unsigned bits = (unsigned)strtoul(type + strcspn(type, "0123456789"), NULL, 10);
    uint64_t value = 0;
    if (!*text || isspace((unsigned char)*text)) return false;
    if (!(is_float ? read_float(text, type, &value) : read_integer(text, type[0] == 'i', bits, &value)))
        return false;
    unsigned char *to = append(v, bits / 8, bits / 8);
    if (to) memcpy(to, &value, bits / 8);
    return to != NULL;
}

static bool read_buffer(char *text, Value *v) {
    char *file = strchr(text, ':'), *end;
    if (file) *file++ = 0;
    if ((file && !*file) || !isdigit((unsigned char)*text) || v->buffer_count == MAX_VALUE_BUFFERS)
        return false;
    errno = 0;
    const unsigned long long bytes = strtoull(text, &end, 0);
    if (errno || *end || bytes > 1ULL << 38 || !append(v, 8, 8)) return false;
    v->buffers[v->buffer_count++] =
        (ValueBuffer){.offset = v->count - 8, .bytes = (size_t)bytes, .file = file};
    return true;
}

static bool read_hexadecimal(const char *text, Value *v) {
    const size_t digits = strlen(text);
    if (!digits || digits % 2 || strspn(text, "0123456789abcdefABCDEF") != digits) return false;
    unsigned char *to = append(v, digits / 2, 1);
    for (size_t i = 0; to && i < digits / 2; i++) {
        const char pair[] = {text[2 * i], text[2 * i + 1], 0};
        to[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return to != NULL;
}

static bool read_file_bytes(const char *path, Value *v) {
    FileError why;
    Text data = {0};
    bool read = read_regular_file(path, MAX_VALUE_BYTES, &data, &why);
    unsigned char *to = read ? append(v, data.bytes, 1) : NULL;
    if (to) memcpy(to, text_chars(&data), data.bytes);
    text_free(&data);
    return to != NULL;
}

static bool is_type(const char *word) {
    char wanted[16];
    const int length = snprintf(wanted, sizeof wanted, " %s ", word);
    return length < (int)sizeof wanted && strstr(" " VALUE_TYPES " ", wanted);
}

// One member; `type` is that of the one before, which a number without a type takes over.
static bool read_member(char *text, char type[8], Value *v) {
    char *colon = strchr(text, ':');
    if (colon) {
        *colon = 0;
        if (!strcmp(text, "buf")) return read_buffer(colon + 1, v);
        if (!strcmp(text, "bytes")) return read_hexadecimal(colon + 1, v);
        if (!strcmp(text, "file")) return read_file_bytes(colon + 1, v);
        if (strlen(text) >= 8 || !is_type(text)) return false;
        memcpy(type, text, strlen(text) + 1);
        text = colon + 1;
    }
    return *type && read_number(type, text, v);
}

bool value_read(const char *text, Value *v) {
    *v = (Value){.spec = strdup(text), .align = 1};
    char type[8] = "";
    for (char *at = v->spec; at;) {
        char *comma = strchr(at, ',');
        if (comma) *comma++ = 0;
        if (!read_member(at, type, v)) return false;
        at = comma;
    }
    return v->spec != NULL;
}

void value_free(Value *v) {
    free(v->spec);
    free(v->bytes);
}
