// JSON out and in. The writer streams into a Text and keeps commas, nesting and escapes right; the reader
// is strict (RFC 8259, no extensions) and small, for files that Warpbook itself wrote.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/file.h"
#include "support/text.h"

enum { JSON_MAX_DEPTH = 64 };

// ---- Writing --------------------------------------------------------------------------------------------
// JsonWriter json = {0};
// json_open_object(&json, NULL); json_string(&json, "verdict", "PASS"); json_close_object(&json);
// good = json_write_file(&json, path, &error);
//
// Or, to have the text: if (json_finish(&json)) use json.text; text_free(&json.text);
//
// `key` is the member's name inside an object and must be NULL inside an array and at the top.

typedef struct {
    Text text;
    int depth;
    bool is_object[JSON_MAX_DEPTH];
    bool has_elements[JSON_MAX_DEPTH];
    bool is_wrong;   // misused: a key where none belongs, unbalanced, too deep
    bool is_compact; // set it before the first call for one line without spaces; else indented by two spaces
} JsonWriter;

void json_open_object(JsonWriter *json, const char *key);
void json_close_object(JsonWriter *json);
void json_open_array(JsonWriter *json, const char *key);
void json_close_array(JsonWriter *json);
// A NULL value is written as null. Bytes that are not UTF-8 become U+FFFD.
void json_string(JsonWriter *json, const char *key, const char *value);
void json_string_bytes(JsonWriter *json, const char *key, const char *value, size_t bytes);
void json_integer(JsonWriter *json, const char *key, int64_t value);
void json_unsigned(JsonWriter *json, const char *key, uint64_t value);
// The shortest decimal that reads back as the same double; NaN and infinities, unknown to JSON, as null.
void json_real(JsonWriter *json, const char *key, double value);
void json_boolean(JsonWriter *json, const char *key, bool value);
void json_null(JsonWriter *json, const char *key);
// The integer where it is known, else null.
void json_integer_or_null(JsonWriter *json, const char *key, bool is_known, int64_t value);
// Opens an object where there is one, else writes null and returns false. Inline, so that clang's analyzer
// sees that what is there is not a null pointer.
static inline bool json_open_object_or_null(JsonWriter *json, const char *key, bool is_there) {
    if (is_there)
        json_open_object(json, key);
    else
        json_null(json, key);
    return is_there;
}
// Adds the members of an object that is JSON text already to the open one.
void json_members(JsonWriter *json, const char *object, size_t bytes);
// Ends the text with a newline. False when memory ran out or the calls did not make one whole value.
bool json_finish(JsonWriter *json);
// Ends the text, writes it as write_file_atomically() does, and releases it. False with the reason in
// `error`.
bool json_write_file(JsonWriter *json, const char *path, FileError *error);

// ---- Reading --------------------------------------------------------------------------------------------

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;

typedef struct JsonValue JsonValue;
struct JsonValue {
    JsonKind kind;
    const char *key; // the member's name if the value is in an object, otherwise NULL
    double number;
    bool is_integer; // written without fraction or exponent and within int64_t: then `integer` is exact
    int64_t integer;
    const char *string; // NUL terminated; `bytes` long, because it may contain NULs
    size_t bytes;
    JsonValue *first; // elements and members, in order
    JsonValue *next;
    int count;
};

// Returns the value, to be released with json_free(), or NULL with the reason and place in `why`.
JsonValue *json_parse(const char *text, size_t bytes, char *why, size_t why_bytes);
void json_free(JsonValue *value); // only what json_parse() returned; NULL is allowed

// Every one of these accepts NULL and a value of the wrong kind, and answers NULL or `otherwise`.
const JsonValue *json_member(const JsonValue *object, const char *key);
const char *json_as_string(const JsonValue *value, const char *otherwise);
int64_t json_as_integer(const JsonValue *value, int64_t otherwise);
double json_as_real(const JsonValue *value, double otherwise);
bool json_as_boolean(const JsonValue *value, bool otherwise);
