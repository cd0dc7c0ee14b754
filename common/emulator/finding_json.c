#include "finding_json.h"

#include <inttypes.h>
#include <stdio.h>

void place_add_json(JsonWriter *json, const char *key, const SourcePlace *place) {
    if (place->line <= 0) {
        json_null(json, key);
        return;
    }
    json_open_object(json, key);
    json_string(json, "file", place->file);
    json_integer(json, "line", place->line);
    json_integer(json, "column", place->column);
    json_close_object(json);
}

void triple_add_json(JsonWriter *json, const char *key, const unsigned triple[3]) {
    json_open_array(json, key);
    for (int i = 0; i < 3; i++) json_unsigned(json, NULL, triple[i]);
    json_close_array(json);
}

void finding_add_json(JsonWriter *json, const Finding *finding) {
    char address[32];
    snprintf(address, sizeof address, "0x%" PRIx64, finding->address);
    json_string(json, "kind", finding_name(finding->kind));
    json_string(json, "verdict", finding_verdict(finding->kind));
    json_string(json, "message", finding->message);
    place_add_json(json, "place", &finding->place);
    place_add_json(json, "other_place", &finding->other_place);
    triple_add_json(json, "block", finding->block);
    triple_add_json(json, "thread", finding->thread);
    triple_add_json(json, "other_block", finding->other_block);
    triple_add_json(json, "other_thread", finding->other_thread);
    json_integer(json, "warp", finding->warp);
    json_integer(json, "lane", finding->lane);
    json_string(json, "address", address);
    json_unsigned(json, "bytes", finding->bytes);
    json_boolean(json, "is_store", finding->is_store);
    json_boolean(json, "is_atomic", finding->is_atomic);
    json_string(json, "object", finding->object);
    json_integer(json, "index", finding->index);
    json_unsigned(json, "object_bytes", finding->object_bytes);
    json_unsigned(json, "count", finding->count);
    json_boolean(json, "fatal", finding->fatal);
}
