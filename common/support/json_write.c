#include "support/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_quoted(Text *text, const char *bytes, size_t count) {
    text_add_char(text, '"');
    size_t plain = 0; // start of the run that needs no escape
    for (size_t i = 0; i < count;) {
        size_t length = utf8_character(bytes + i, count - i, NULL);
        unsigned char c = (unsigned char)bytes[i];
        if (length != 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
            i += length;
            continue;
        }
        text_add_bytes(text, bytes + plain, i - plain);
        if (length == 0)
            text_add(text, "\xef\xbf\xbd"); // U+FFFD, the replacement character
        else if (c == '"')
            text_add(text, "\\\"");
        else if (c == '\\')
            text_add(text, "\\\\");
        else if (c == '\n')
            text_add(text, "\\n");
        else if (c == '\t')
            text_add(text, "\\t");
        else if (c == '\r')
            text_add(text, "\\r");
        else
            text_printf(text, "\\u%04x", c);
        i += length ? length : 1;
        plain = i;
    }
    text_add_bytes(text, bytes + plain, count - plain);
    text_add_char(text, '"');
}

static void new_line(JsonWriter *json) {
    if (json->is_compact) return;
    text_add_char(&json->text, '\n');
    for (int i = 0; i < json->depth; i++) text_add(&json->text, "  ");
}

// The comma, line and key before a value. False if no value is allowed here.
static bool begin_value(JsonWriter *json, const char *key) {
    if (json->is_wrong) return false;
    bool in_object = json->depth > 0 && json->is_object[json->depth - 1];
    bool has_value = json->depth == 0 && json->text.bytes > 0; // a second value at the top
    if ((key != NULL) != in_object || has_value) {
        json->is_wrong = true;
        return false;
    }
    if (json->depth > 0) {
        bool *has_elements = &json->has_elements[json->depth - 1];
        if (*has_elements) text_add_char(&json->text, ',');
        *has_elements = true;
        new_line(json);
    }
    if (key) {
        add_quoted(&json->text, key, strlen(key));
        text_add(&json->text, json->is_compact ? ":" : ": ");
    }
    return true;
}

static void open_value(JsonWriter *json, const char *key, bool is_object) {
    if (!begin_value(json, key)) return;
    if (json->depth == JSON_MAX_DEPTH) {
        json->is_wrong = true;
        return;
    }
    text_add_char(&json->text, is_object ? '{' : '[');
    json->is_object[json->depth] = is_object;
    json->has_elements[json->depth] = false;
    json->depth++;
}

static void close_value(JsonWriter *json, bool is_object) {
    if (json->is_wrong || json->depth == 0 || json->is_object[json->depth - 1] != is_object) {
        json->is_wrong = true;
        return;
    }
    json->depth--;
    if (json->has_elements[json->depth]) new_line(json);
    text_add_char(&json->text, is_object ? '}' : ']');
}

void json_open_object(JsonWriter *json, const char *key) { open_value(json, key, true); }
void json_close_object(JsonWriter *json) { close_value(json, true); }
void json_open_array(JsonWriter *json, const char *key) { open_value(json, key, false); }
void json_close_array(JsonWriter *json) { close_value(json, false); }

void json_string_bytes(JsonWriter *json, const char *key, const char *value, size_t bytes) {
    if (begin_value(json, key)) add_quoted(&json->text, value, bytes);
}

void json_string(JsonWriter *json, const char *key, const char *value) {
    if (value)
        json_string_bytes(json, key, value, strlen(value));
    else
        json_null(json, key);
}

void json_integer(JsonWriter *json, const char *key, int64_t value) {
    if (begin_value(json, key)) text_printf(&json->text, "%" PRId64, value);
}

void json_unsigned(JsonWriter *json, const char *key, uint64_t value) {
    if (begin_value(json, key)) text_printf(&json->text, "%" PRIu64, value);
}

void json_real(JsonWriter *json, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    if (!begin_value(json, key)) return;
    char digits[40];
    // 17 significant digits always read back as the same double; fewer often do (IEEE 754-2019, 5.12.2).
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break; // NOLINT: the very same value is wanted
    }
    text_add(&json->text, digits);
    // "4" would read back as an integer; a real stays a real.
    if (!strpbrk(digits, ".e")) text_add(&json->text, ".0");
}

void json_boolean(JsonWriter *json, const char *key, bool value) {
    if (begin_value(json, key)) text_add(&json->text, value ? "true" : "false");
}

void json_null(JsonWriter *json, const char *key) {
    if (begin_value(json, key)) text_add(&json->text, "null");
}

void json_integer_or_null(JsonWriter *json, const char *key, bool is_known, int64_t value) {
    if (is_known)
        json_integer(json, key, value);
    else
        json_null(json, key);
}

void json_members(JsonWriter *json, const char *object, size_t bytes) {
    while (bytes > 0 && object[bytes - 1] == '\n') bytes--;
    if (bytes < 2 || object[0] != '{' || object[bytes - 1] != '}' || json->depth == 0 ||
        !json->is_object[json->depth - 1]) {
        json->is_wrong = true;
        return;
    }
    if (bytes == 2) return;
    bool *has_elements = &json->has_elements[json->depth - 1];
    if (*has_elements) text_add_char(&json->text, ',');
    *has_elements = true;
    new_line(json);
    text_add_bytes(&json->text, object + 1, bytes - 2);
}

bool json_finish(JsonWriter *json) {
    if (json->depth != 0 || json->text.bytes == 0) json->is_wrong = true;
    text_add_char(&json->text, '\n');
    return !json->is_wrong && !json->text.failed;
}

bool json_write_file(JsonWriter *json, const char *path, FileError *error) {
    *error = (FileError){.status = FILE_NO_MEMORY};
    snprintf(error->message, sizeof error->message, "cannot write %s: out of memory", path);
    bool good = json_finish(json) && write_file_atomically(path, json->text.data, json->text.bytes, error);
    text_free(&json->text);
    return good;
}
