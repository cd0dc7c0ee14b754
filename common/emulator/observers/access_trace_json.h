// The access trace as JSON: $defs/kernel of docs/trace.schema.json.
#pragma once

#include "emulator/observers/access_trace_record.h"

// The members of a kernel's JSON object as text to be freed; NULL when memory ran out.
char *access_trace_json(const AccessTrace *trace, const EmulatorResult *result, size_t *bytes);
