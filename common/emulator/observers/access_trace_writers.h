// Which lane wrote each 4-byte word of global and shared memory last, as far as the trace keeps that lane's
// events.
#pragma once

#include "emulator/observers/access_trace_record.h"

typedef struct TraceWriters TraceWriters;

TraceWriters *trace_writers_new(void); // NULL when memory ran out
void trace_writers_free(TraceWriters *writers);
// Puts into `event` (NULL: none is kept of this access) what its lanes take from other threads, and remembers
// what they write. False when memory ran out.
bool trace_writers_follow(TraceWriters *writers, const Access *access, TraceEvent *event);
