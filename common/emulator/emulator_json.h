// What the emulator has to say, as JSON, for all documents that hold it (docs/result.schema.json,
// docs/trace.schema.json).
#pragma once

#include "support/json.h"
#include "emulator/launch.h"

// The members of an open object: $defs/finding of both schemas.
void finding_add_json(JsonWriter *json, const Finding *finding);
// {"file": ..., "line": ..., "column": ...}, or null where the line is not known.
void place_add_json(JsonWriter *json, const char *key, const SourcePlace *place);
void triple_add_json(JsonWriter *json, const char *key, const unsigned triple[3]);
// An object with one member a counter.
void counters_add_json(JsonWriter *json, const char *key, const Counters *counters);
// The "gpu" of a trace. `peak_gb_per_s` is its memory's bandwidth; 0: not known.
void device_add_json(JsonWriter *json, const EmulatorDevice *device, double peak_gb_per_s);
