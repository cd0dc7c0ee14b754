#include "emulator/emulator_json.h"

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
    json_boolean(json, "is_endless", finding->is_endless);
    json_string(json, "object", finding->object);
    json_integer(json, "index", finding->index);
    json_unsigned(json, "object_bytes", finding->object_bytes);
    json_unsigned(json, "count", finding->count);
    json_boolean(json, "fatal", finding->fatal);
}

void counters_add_json(JsonWriter *json, const char *key, const Counters *counters) {
    json_open_object(json, key);
    for (int i = 0; i < counter_field_count; i++)
        json_unsigned(json, counter_fields[i].name, counter_value(counters, i));
    json_close_object(json);
}

void device_add_json(JsonWriter *json, const EmulatorDevice *device, double peak_gb_per_s) {
    char capability[32];
    snprintf(capability, sizeof capability, "%d.%d", device->compute_major, device->compute_minor);
    json_open_object(json, "gpu");
    json_string(json, "name", device->name);
    json_string(json, "compute_capability", capability);
    json_integer(json, "sm_count", device->sm_count);
    json_integer(json, "clock_khz", device->clock_khz);
    json_real(json, "peak_gb_per_s", peak_gb_per_s);
    json_integer(json, "max_threads_per_block", device->max_threads_per_block);
    json_integer(json, "max_threads_per_sm", device->max_threads_per_sm);
    json_integer(json, "max_blocks_per_sm", device->max_blocks_per_sm);
    json_integer(json, "registers_per_sm", device->registers_per_sm);
    json_integer(json, "shared_per_sm", device->shared_per_sm);
    json_integer(json, "shared_per_block", device->shared_per_block);
    json_integer(json, "shared_reserved_per_block", device->shared_reserved_per_block);
    json_close_object(json);
}
