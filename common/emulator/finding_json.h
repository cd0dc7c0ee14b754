// A finding as JSON: docs/result.schema.json and docs/trace.schema.json, $defs/finding.
#ifndef WARPBOOK_FINDING_JSON_H
#define WARPBOOK_FINDING_JSON_H

#include "../support/json.h"
#include "emulator.h"

// The members of an open object.
void finding_add_json(JsonWriter *json, const Finding *finding);
// {"file": ..., "line": ..., "column": ...}, or null where the line is not known.
void place_add_json(JsonWriter *json, const char *key, const SourcePlace *place);
void triple_add_json(JsonWriter *json, const char *key, const unsigned triple[3]);

#endif
