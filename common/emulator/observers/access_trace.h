// The access trace of a launch (--trace): every memory access, shuffle and barrier of its first warps, in
// order, and which store each load reads from; as JSON, for pictures (docs/trace.schema.json). Internal to
// common/emulator.
//
//   access_trace.c           listens, and keeps the first warps that fit
//   access_trace_record.h    what is kept
//   access_trace_writers.c   which lane wrote each word last
//   access_trace_json.c      writes it
#pragma once

#include "emulator/machine/machine.h"

typedef struct AccessTrace AccessTrace;

// Starts to record; machine->launch->trace_bytes bounds it. The Observer does not own the AccessTrace:
// access_trace_finish() does. NULL when memory ran out.
AccessTrace *access_trace_new(Machine *machine, Observer *observer);
// Ends: the JSON goes to the result, and `trace` is no more. False when memory ran out.
bool access_trace_finish(AccessTrace *trace, EmulatorResult *result);
