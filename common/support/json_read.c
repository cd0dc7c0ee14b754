#include "support/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t bytes, at;
    const char *problem; // the first one
    size_t problem_at;
} Reader;

static bool fail(Reader *reader, const char *problem) {
    if (!reader->problem) {
        reader->problem = problem;
        reader->problem_at = reader->at;
    }
    return false;
}

static int peek(const Reader *reader) {
    return reader->at < reader->bytes ? (unsigned char)reader->text[reader->at] : -1;
}

static void skip_space(Reader *reader) {
    int c = peek(reader);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        reader->at++;
        c = peek(reader);
    }
}

static bool take_word(Reader *reader, const char *word) {
    size_t length = strlen(word);
    if (reader->bytes - reader->at < length || memcmp(reader->text + reader->at, word, length) != 0) {
        return fail(reader, "no value");
    }
    reader->at += length;
    return true;
}

static bool read_four_digits(Reader *reader, unsigned *code) {
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int c = peek(reader);
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            digit = (unsigned)(c - 'A' + 10);
        else
            return fail(reader, "four hexadecimal digits must follow \\u");
        *code = *code << 4 | digit;
        reader->at++;
    }
    return true;
}

static void add_utf8(Text *text, unsigned code) {
    if (code < 0x80) {
        text_add_char(text, (char)code);
    } else if (code < 0x800) {
        text_add_char(text, (char)(0xc0 | code >> 6));
        text_add_char(text, (char)(0x80 | (code & 0x3f)));
    } else if (code < 0x10000) {
        text_add_char(text, (char)(0xe0 | code >> 12));
        text_add_char(text, (char)(0x80 | (code >> 6 & 0x3f)));
        text_add_char(text, (char)(0x80 | (code & 0x3f)));
    } else {
        text_add_char(text, (char)(0xf0 | code >> 18));
        text_add_char(text, (char)(0x80 | (code >> 12 & 0x3f)));
        text_add_char(text, (char)(0x80 | (code >> 6 & 0x3f)));
        text_add_char(text, (char)(0x80 | (code & 0x3f)));
    }
}

static bool read_escape(Reader *reader, Text *into) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int c = peek(reader);
    const char *found = c > 0 ? strchr(names, c) : NULL;
    if (found) {
        text_add_char(into, meanings[found - names]);
        reader->at++;
        return true;
    }
    if (c != 'u') return fail(reader, "unknown escape");
    reader->at++;
    unsigned code = 0, low = 0;
    if (!read_four_digits(reader, &code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return fail(reader, "half of a surrogate pair");
    if (code >= 0xd800 && code <= 0xdbff) {
        if (!take_word(reader, "\\u") || !read_four_digits(reader, &low)) return false;
        if (low < 0xdc00 || low > 0xdfff) return fail(reader, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    add_utf8(into, code);
    return true;
}

// Reads a string, the opening quote being next. The result belongs to the caller.
static char *read_string(Reader *reader, size_t *bytes) {
    Text text = {0};
    reader->at++;
    for (;;) {
        int c = peek(reader);
        size_t length = utf8_character(reader->text + reader->at, reader->bytes - reader->at, NULL);
        if (c < 0) {
            fail(reader, "the string does not end");
            break;
        }
        if (c == '"') {
            reader->at++;
            *bytes = text.bytes;
            char *string = text_take(&text);
            if (!string) fail(reader, "out of memory");
            return string;
        }
        if (c < 0x20) {
            fail(reader, "a control character in a string");
            break;
        }
        if (length == 0) {
            fail(reader, "no UTF-8");
            break;
        }
        if (c == '\\') {
            reader->at++;
            if (!read_escape(reader, &text)) break;
        } else {
            text_add_bytes(&text, reader->text + reader->at, length);
            reader->at += length;
        }
    }
    text_free(&text);
    return NULL;
}

static size_t skip_digits(Reader *reader) {
    size_t from = reader->at;
    while (peek(reader) >= '0' && peek(reader) <= '9') reader->at++;
    return reader->at - from;
}

static bool read_number(Reader *reader, JsonValue *value) {
    size_t from = reader->at;
    if (peek(reader) == '-') reader->at++;
    bool leads_with_zero = peek(reader) == '0';
    size_t digits = skip_digits(reader);
    if (digits == 0 || (leads_with_zero && digits > 1)) return fail(reader, "no number");
    value->is_integer = true;
    if (peek(reader) == '.') {
        reader->at++;
        value->is_integer = false;
        if (skip_digits(reader) == 0) return fail(reader, "digits must follow the point");
    }
    if (peek(reader) == 'e' || peek(reader) == 'E') {
        reader->at++;
        value->is_integer = false;
        if (peek(reader) == '+' || peek(reader) == '-') reader->at++;
        if (skip_digits(reader) == 0) return fail(reader, "digits must follow the exponent's e");
    }
    char digits_text[512]; // strtod wants a NUL; no double needs more digits to be written
    size_t length = reader->at - from;
    if (length >= sizeof digits_text) return fail(reader, "a number with too many digits");
    memcpy(digits_text, reader->text + from, length);
    digits_text[length] = '\0';
    value->number = strtod(digits_text, NULL);
    if (!isfinite(value->number)) return fail(reader, "the number is too large");
    if (value->is_integer) {
        errno = 0;
        value->integer = strtoll(digits_text, NULL, 10);
        if (errno) value->is_integer = false;
    }
    return true;
}

static JsonValue *read_value(Reader *reader, int depth);

// Reads the elements of an array or the members of an object up to the closing bracket.
static bool read_elements(Reader *reader, JsonValue *value, int depth) {
    bool is_object = value->kind == JSON_OBJECT;
    char end = is_object ? '}' : ']';
    JsonValue **last = &value->first;
    reader->at++;
    skip_space(reader);
    if (peek(reader) == end) {
        reader->at++;
        return true;
    }
    for (;;) {
        char *key = NULL;
        size_t key_bytes = 0;
        skip_space(reader);
        if (is_object) {
            if (peek(reader) != '"') return fail(reader, "a member starts with its name in quotes");
            key = read_string(reader, &key_bytes);
            if (!key) return false;
            if (memchr(key, '\0', key_bytes)) { // names are C strings here; our names contain no NUL
                free(key);
                return fail(reader, "a NUL in a member's name");
            }
            skip_space(reader);
            if (peek(reader) != ':') {
                free(key);
                return fail(reader, "a colon must follow the name");
            }
            reader->at++;
        }
        JsonValue *element = read_value(reader, depth + 1);
        if (!element) {
            free(key);
            return false;
        }
        element->key = key;
        *last = element;
        last = &element->next;
        value->count++;
        skip_space(reader);
        int c = peek(reader);
        if (c == end) {
            reader->at++;
            return true;
        }
        if (c != ',') return fail(reader, "a comma or the end must follow");
        reader->at++;
    }
}

static JsonValue *read_value(Reader *reader, int depth) {
    if (depth > JSON_MAX_DEPTH) {
        fail(reader, "nested too deep");
        return NULL;
    }
    JsonValue *value = calloc(1, sizeof *value);
    if (!value) {
        fail(reader, "out of memory");
        return NULL;
    }
    skip_space(reader);
    bool good = true;
    switch (peek(reader)) {
    case '{':
        value->kind = JSON_OBJECT;
        good = read_elements(reader, value, depth);
        break;
    case '[':
        value->kind = JSON_ARRAY;
        good = read_elements(reader, value, depth);
        break;
    case '"':
        value->kind = JSON_STRING;
        value->string = read_string(reader, &value->bytes);
        good = value->string != NULL;
        break;
    case 't':
        value->kind = JSON_TRUE;
        good = take_word(reader, "true");
        break;
    case 'f':
        value->kind = JSON_FALSE;
        good = take_word(reader, "false");
        break;
    case 'n':
        value->kind = JSON_NULL;
        good = take_word(reader, "null");
        break;
    default: value->kind = JSON_NUMBER; good = read_number(reader, value);
    }
    if (good) return value;
    json_free(value);
    return NULL;
}

JsonValue *json_parse(const char *text, size_t bytes, char *why, size_t why_bytes) {
    Reader reader = {.text = text, .bytes = bytes};
    JsonValue *value = read_value(&reader, 0);
    skip_space(&reader);
    if (value && reader.at < bytes) {
        fail(&reader, "something follows the value");
        json_free(value);
        value = NULL;
    }
    if (!value && why_bytes) {
        int line = 1;
        for (size_t i = 0; i < reader.problem_at && i < bytes; i++) line += text[i] == '\n';
        snprintf(why, why_bytes, "line %d, byte %zu: %s", line, reader.problem_at,
                 reader.problem ? reader.problem : "no JSON");
    }
    return value;
}

void json_free(JsonValue *value) {
    while (value) {
        JsonValue *next = value->next;
        json_free(value->first); // no deeper than JSON_MAX_DEPTH
        free((char *)value->key);
        free((char *)value->string);
        free(value);
        value = next;
    }
}

const JsonValue *json_member(const JsonValue *object, const char *key) {
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (const JsonValue *member = object->first; member; member = member->next) {
        if (strcmp(member->key, key) == 0) return member;
    }
    return NULL;
}

const char *json_as_string(const JsonValue *value, const char *otherwise) {
    return value && value->kind == JSON_STRING ? value->string : otherwise;
}

int64_t json_as_integer(const JsonValue *value, int64_t otherwise) {
    return value && value->kind == JSON_NUMBER && value->is_integer ? value->integer : otherwise;
}

double json_as_real(const JsonValue *value, double otherwise) {
    return value && value->kind == JSON_NUMBER ? value->number : otherwise;
}

bool json_as_boolean(const JsonValue *value, bool otherwise) {
    if (!value || (value->kind != JSON_TRUE && value->kind != JSON_FALSE)) return otherwise;
    return value->kind == JSON_TRUE;
}
