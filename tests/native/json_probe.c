// common/support/ for the tests: reads JSON and writes it again, or prints text made safe.
//   json_probe round [compact]   stdin: JSON; stdout: the same, written by json_write.c; 1 and the reason
//   when it is none json_probe values            every kind of value once json_probe misuse CASE       what
//   json_finish() says of calls that make no value json_probe printable         stdin as text_add_printable()
//   shows it json_probe sha256            of stdin json_probe write PATH        stdin to a file, atomically;
//   1 and the reason on failure json_probe read PATH LIMIT   a regular file to stdout
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "support/json.h"
#include "support/sha256.h"

static Text read_stdin(void) {
    Text text = {0};
    char chunk[4096];
    for (size_t count; (count = fread(chunk, 1, sizeof chunk, stdin)) > 0;)
        text_add_bytes(&text, chunk, count);
    return text;
}

static void write_value(JsonWriter *json, const JsonValue *value, const char *key) {
    switch (value->kind) {
    case JSON_NULL: json_null(json, key); break;
    case JSON_FALSE: json_boolean(json, key, false); break;
    case JSON_TRUE: json_boolean(json, key, true); break;
    case JSON_STRING: json_string_bytes(json, key, value->string, value->bytes); break;
    case JSON_NUMBER:
        if (value->is_integer)
            json_integer(json, key, value->integer);
        else
            json_real(json, key, value->number);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        if (value->kind == JSON_ARRAY)
            json_open_array(json, key);
        else
            json_open_object(json, key);
        for (const JsonValue *at = value->first; at; at = at->next) write_value(json, at, at->key);
        if (value->kind == JSON_ARRAY)
            json_close_array(json);
        else
            json_close_object(json);
    }
}

static int finish(JsonWriter *json) {
    bool good = json_finish(json);
    if (good)
        fwrite(json->text.data, 1, json->text.bytes, stdout);
    else
        fprintf(stderr, "not one whole value\n");
    text_free(&json->text);
    return good ? 0 : 1;
}

static int round_trip(bool is_compact) {
    Text text = read_stdin();
    char why[128];
    JsonValue *value = json_parse(text_chars(&text), text.bytes, why, sizeof why);
    text_free(&text);
    if (!value) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    JsonWriter json = {.is_compact = is_compact};
    write_value(&json, value, NULL);
    json_free(value);
    return finish(&json);
}

static int values(void) {
    JsonWriter json = {0};
    json_open_object(&json, NULL);
    json_string(&json, "text", "quote \" backslash \\ newline \n tab \t bell \a delete \x7f");
    json_string(&json, "broken", "a\xff\xc0\xaf\xed\xa0\x80z");
    json_string(&json, "none", NULL);
    json_string_bytes(&json, "nul", "a\0b", 3);
    json_integer(&json, "least", INT64_MIN);
    json_unsigned(&json, "most", UINT64_MAX);
    json_real(&json, "third", 1.0 / 3.0);
    json_real(&json, "tenth", 0.1);
    json_real(&json, "four", 4);
    json_real(&json, "tiny", 5e-324);
    json_real(&json, "huge", 1.7976931348623157e308);
    json_real(&json, "minus_zero", -0.0);
    json_real(&json, "nan", NAN);
    json_real(&json, "infinity", -INFINITY);
    json_boolean(&json, "yes", true);
    json_open_array(&json, "empty");
    json_close_array(&json);
    json_open_array(&json, "list");
    json_open_object(&json, NULL);
    json_close_object(&json);
    json_null(&json, NULL);
    json_close_array(&json);
    json_close_object(&json);
    return finish(&json);
}

static int misuse(int which) {
    JsonWriter json = {0};
    switch (which) {
    case 0: break; // nothing at all
    case 1: json_open_array(&json, NULL); break;
    case 2: json_open_array(&json, NULL), json_close_object(&json); break;
    case 3: json_open_object(&json, NULL), json_null(&json, NULL), json_close_object(&json); break;
    case 4: json_open_array(&json, NULL), json_null(&json, "key"), json_close_array(&json); break;
    case 5: json_null(&json, NULL), json_null(&json, NULL); break;
    case 6: json_close_array(&json); break;
    default:
        for (int i = 0; i <= JSON_MAX_DEPTH; i++) json_open_array(&json, NULL);
        for (int i = 0; i <= JSON_MAX_DEPTH; i++) json_close_array(&json);
    }
    return finish(&json);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "round") == 0) return round_trip(argc > 2);
    if (strcmp(what, "values") == 0) return values();
    if (strcmp(what, "misuse") == 0 && argc > 2) return misuse(atoi(argv[2]));
    FileError error = {0};
    bool good = true;
    Text text = {0};
    if (strcmp(what, "read") == 0 && argc > 3) {
        good = read_regular_file(argv[2], strtoul(argv[3], NULL, 10), &text, &error);
        fwrite(text_chars(&text), 1, text.bytes, stdout);
    } else {
        text = read_stdin();
        if (strcmp(what, "printable") == 0) {
            Text safe = {0};
            text_add_printable(&safe, text_chars(&text), text.bytes);
            fputs(text_chars(&safe), stdout);
            text_free(&safe);
        } else if (strcmp(what, "sha256") == 0) {
            char hex[65];
            sha256_hex(text_chars(&text), text.bytes, hex);
            puts(hex);
        } else if (strcmp(what, "write") == 0 && argc > 2) {
            good = write_file_atomically(argv[2], text_chars(&text), text.bytes, &error);
        } else {
            good = false;
        }
    }
    text_free(&text);
    if (!good) fprintf(stderr, "%s\n", error.message);
    return good ? 0 : 1;
}
