// The access trace as JSON: $defs/kernel of docs/trace.schema.json.
#ifndef WARPBOOK_ACCESS_TRACE_JSON_H
#define WARPBOOK_ACCESS_TRACE_JSON_H

#include "emulator/observers/access_trace_record.h"

// The members of a kernel's JSON object as text to be freed; NULL when memory ran out.
char *access_trace_json(const AccessTrace *trace, const EmulatorResult *result, size_t *bytes);

#endif
